package netlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// btf is what the running kernel's BTF type section says (Documentation/bpf/btf.rst) about enumerators
// and, as "struct" and "struct.member", about sizes and offsets in bytes.
type btf struct {
	enums, layout map[string]int64
}

func readBTF(t testing.TB) btf {
	t.Helper()
	raw, err := os.ReadFile("/sys/kernel/btf/vmlinux")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("kernel without BTF")
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := parseBTF(raw)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseBTF(raw []byte) (btf, error) {
	ne := binary.NativeEndian
	if len(raw) < 24 || ne.Uint16(raw) != 0xeb9f {
		return btf{}, errors.New("not BTF")
	}
	hdr := int(ne.Uint32(raw[4:]))
	typeOff, typeLen := int(ne.Uint32(raw[8:])), int(ne.Uint32(raw[12:]))
	strOff, strLen := int(ne.Uint32(raw[16:])), int(ne.Uint32(raw[20:]))
	types, strs := raw[hdr+typeOff:][:typeLen], raw[hdr+strOff:][:strLen]
	name := func(off uint32) string {
		s := strs[off:]
		for i, c := range s {
			if c == 0 {
				return string(s[:i])
			}
		}
		return ""
	}
	b := btf{map[string]int64{}, map[string]int64{}}
	for p := 0; p+12 <= len(types); {
		info := ne.Uint32(types[p+4:])
		typeName, size := name(ne.Uint32(types[p:])), int64(ne.Uint32(types[p+8:]))
		vlen, kind := int(info&0xffff), info>>24&0x1f
		p += 12
		switch kind {
		case 2, 7, 8, 9, 10, 11, 12, 18: // ptr, fwd, typedef, volatile, const, restrict, func, type_tag
		case 1, 14, 17: // int, var, decl_tag
			p += 4
		case 3: // array
			p += 12
		case 4: // struct
			b.layout[typeName] = size
			for range vlen {
				// Above bit 24 there may be a bit field's size; ours have none.
				b.layout[typeName+"."+name(ne.Uint32(types[p:]))] = int64(ne.Uint32(types[p+8:])&0xffffff) / 8
				p += 12
			}
		case 5, 15: // union, datasec
			p += 12 * vlen
		case 6: // enum
			for range vlen {
				b.enums[name(ne.Uint32(types[p:]))] = int64(int32(ne.Uint32(types[p+4:])))
				p += 8
			}
		case 13: // func_proto
			p += 8 * vlen
		case 16: // float
		case 19: // enum64
			for range vlen {
				b.enums[name(ne.Uint32(types[p:]))] = int64(ne.Uint64(types[p+4:]))
				p += 12
			}
		default:
			return btf{}, fmt.Errorf("BTF kind %d at %d", kind, p-12)
		}
	}
	return b, nil
}

// btfNames are ours against the kernel's names. A kernel older than a name does not have it.
var btfNames = map[string]int64{
	"NETDEV_CMD_QUEUE_GET":  CmdQueueGet,
	"NETDEV_CMD_NAPI_GET":   CmdNAPIGet,
	"NETDEV_CMD_QSTATS_GET": CmdQStatsGet,

	"NETDEV_A_QUEUE_ID":      aQueueID,
	"NETDEV_A_QUEUE_IFINDEX": aQueueIfindex,
	"NETDEV_A_QUEUE_TYPE":    aQueueType,
	"NETDEV_A_QUEUE_NAPI_ID": aQueueNAPIID,

	"NETDEV_A_NAPI_IFINDEX":             aNAPIIfindex,
	"NETDEV_A_NAPI_ID":                  aNAPIID,
	"NETDEV_A_NAPI_IRQ":                 aNAPIIRQ,
	"NETDEV_A_NAPI_PID":                 aNAPIPID,
	"NETDEV_A_NAPI_DEFER_HARD_IRQS":     aNAPIDeferHardIRQs,
	"NETDEV_A_NAPI_GRO_FLUSH_TIMEOUT":   aNAPIGROFlushTimeout,
	"NETDEV_A_NAPI_IRQ_SUSPEND_TIMEOUT": aNAPIIRQSuspendTimeout,
	"NETDEV_A_NAPI_THREADED":            aNAPIThreaded,

	"NETDEV_A_QSTATS_IFINDEX":               aQStatsIfindex,
	"NETDEV_A_QSTATS_QUEUE_TYPE":            aQStatsQueueType,
	"NETDEV_A_QSTATS_QUEUE_ID":              aQStatsQueueID,
	"NETDEV_A_QSTATS_SCOPE":                 aQStatsScope,
	"NETDEV_A_QSTATS_RX_PACKETS":            aQStatsRXPackets,
	"NETDEV_A_QSTATS_RX_BYTES":              aQStatsRXBytes,
	"NETDEV_A_QSTATS_TX_PACKETS":            aQStatsTXPackets,
	"NETDEV_A_QSTATS_TX_BYTES":              aQStatsTXBytes,
	"NETDEV_A_QSTATS_RX_ALLOC_FAIL":         aQStatsRXAllocFail,
	"NETDEV_A_QSTATS_RX_HW_DROPS":           aQStatsRXHWDrops,
	"NETDEV_A_QSTATS_RX_HW_DROP_OVERRUNS":   aQStatsRXHWDropOverruns,
	"NETDEV_A_QSTATS_RX_HW_DROP_RATELIMITS": aQStatsRXHWDropRatelimits,
	"NETDEV_A_QSTATS_TX_HW_DROPS":           aQStatsTXHWDrops,
	"NETDEV_A_QSTATS_TX_HW_DROP_ERRORS":     aQStatsTXHWDropErrors,
	"NETDEV_A_QSTATS_TX_HW_DROP_RATELIMITS": aQStatsTXHWDropRatelimits,
	"NETDEV_A_QSTATS_TX_STOP":               aQStatsTXStop,
	"NETDEV_A_QSTATS_TX_WAKE":               aQStatsTXWake,

	"NETDEV_QUEUE_TYPE_RX":      queueTypeRX,
	"NETDEV_QUEUE_TYPE_TX":      queueTypeTX,
	"NETDEV_QSTATS_SCOPE_QUEUE": qstatsScopeQueue,

	"ETHTOOL_A_RSS_CONTEXT":    aRSSContext,
	"ETHTOOL_A_RSS_HFUNC":      aRSSHFunc,
	"ETHTOOL_A_RSS_INDIR":      aRSSIndir,
	"ETHTOOL_A_RSS_HKEY":       aRSSHKey,
	"ETHTOOL_A_RSS_INPUT_XFRM": aRSSInputXfrm,
	"ETHTOOL_A_RSS_FLOW_HASH":  aRSSFlowHash,

	"ETHTOOL_A_COALESCE_TX_AGGR_MAX_BYTES":  aCoalesceTXAggrMaxBytes,
	"ETHTOOL_A_COALESCE_TX_AGGR_MAX_FRAMES": aCoalesceTXAggrMaxFrames,
	"ETHTOOL_A_COALESCE_TX_AGGR_TIME_USECS": aCoalesceTXAggrTimeUsecs,

	"ETHTOOL_MSG_RSS_NTF":        msgRSSNtf,
	"ETHTOOL_MSG_RSS_CREATE_NTF": msgRSSCreateNtf,
	"ETHTOOL_MSG_RSS_DELETE_NTF": msgRSSDeleteNtf,

	"ETH_SS_STATS":          StringsStats,
	"ETH_SS_PRIV_FLAGS":     StringsPrivFlags,
	"ETH_SS_FEATURES":       StringsFeatures,
	"ETH_SS_RSS_HASH_FUNCS": StringsRSSHashFuncs,
}

// The numbers we define ourselves are those of the running kernel.
func TestNumbersAreTheKernels(t *testing.T) {
	enums := readBTF(t).enums
	known := 0
	for name, ours := range btfNames {
		kernels, ok := enums[name]
		if !ok {
			t.Logf("%s: not in this kernel", name)
			continue
		}
		known++
		if kernels != ours {
			t.Errorf("%s is %d here, %d in the kernel", name, ours, kernels)
		}
	}
	if known == 0 {
		t.Error("no name found: is this BTF of a kernel with networking?")
	}
}

// The ioctl structures we take apart by hand are laid out as in the running kernel.
func TestLayoutsAreTheKernels(t *testing.T) {
	layout := readBTF(t).layout
	fs := layout["ethtool_rxnfc.fs"]
	for name, tc := range map[string]struct{ ours, kernels int64 }{
		"rxnfcSize":      {rxnfcSize, layout["ethtool_rxnfc"]},
		"rxnfcFlowType":  {rxnfcFlowType, layout["ethtool_rxnfc.flow_type"]},
		"rxnfcData":      {rxnfcData, layout["ethtool_rxnfc.data"]},
		"rxnfcRuleCount": {rxnfcRuleCount, layout["ethtool_rxnfc."]}, // an unnamed union
		"rxnfcRuleLocs":  {rxnfcRuleLocs, layout["ethtool_rxnfc.rule_locs"]},
		"rxnfcCookie":    {rxnfcCookie, fs + layout["ethtool_rx_flow_spec.ring_cookie"]},
		"rxnfcLocation":  {rxnfcLocation, fs + layout["ethtool_rx_flow_spec.location"]},
		"rxfhSize":       {rxfhSize, layout["ethtool_rxfh.rss_config"]},
		"rxfh indir":     {8, layout["ethtool_rxfh.indir_size"]},
		"rxfh key":       {12, layout["ethtool_rxfh.key_size"]},
		"rxfh hfunc":     {16, layout["ethtool_rxfh.hfunc"]},
		"drvinfoSize":    {drvinfoSize, layout["ethtool_drvinfo"]},
		"drvinfo bus":    {100, layout["ethtool_drvinfo.bus_info"]},
		"drvinfo stats":  {180, layout["ethtool_drvinfo.n_stats"]},
		"stats data":     {8, layout["ethtool_stats.data"]},
		"gstrings len":   {8, layout["ethtool_gstrings.len"]},
		"gstrings data":  {12, layout["ethtool_gstrings.data"]},
		"sset mask":      {8, layout["ethtool_sset_info.sset_mask"]},
		"sset data":      {16, layout["ethtool_sset_info.data"]},
	} {
		if tc.ours != tc.kernels {
			t.Errorf("%s is %d here, %d in the kernel", name, tc.ours, tc.kernels)
		}
	}
}

// The names of the flow types are the kernel's, lower case, with the dashes of the netlink spec.
func TestFlowTypesAreTheKernels(t *testing.T) {
	enums := readBTF(t).enums
	if _, ok := enums["ETHTOOL_A_FLOW_TCP4"]; !ok {
		t.Skip("kernel before 6.17")
	}
	for n, name := range flowAttrs {
		if name == "" {
			continue
		}
		kernels := "ETHTOOL_A_FLOW_" + strings.ToUpper(strings.ReplaceAll(string(name), "-", "_"))
		if got, ok := enums[kernels]; !ok || got != int64(n) {
			t.Errorf("%s is %d here, %d (present: %v) in the kernel", kernels, n, got, ok)
		}
	}
}
