package netlink

// Numbers golang.org/x/sys/unix v0.49 lacks. A test compares them with the running kernel's BTF.

// Family "netdev" (include/uapi/linux/netdev.h).
const (
	netdevFamily = "netdev"

	CmdQueueGet  = 10 // NETDEV_CMD_QUEUE_GET, Linux 6.8
	CmdNAPIGet   = 11 // NETDEV_CMD_NAPI_GET, 6.8
	CmdQStatsGet = 12 // NETDEV_CMD_QSTATS_GET, 6.9

	aQueueID      = 1
	aQueueIfindex = 2
	aQueueType    = 3
	aQueueNAPIID  = 4

	aNAPIIfindex           = 1
	aNAPIID                = 2
	aNAPIIRQ               = 3
	aNAPIPID               = 4
	aNAPIDeferHardIRQs     = 5
	aNAPIGROFlushTimeout   = 6
	aNAPIIRQSuspendTimeout = 7
	aNAPIThreaded          = 8

	aQStatsIfindex            = 1
	aQStatsQueueType          = 2
	aQStatsQueueID            = 3
	aQStatsScope              = 4
	aQStatsRXPackets          = 8
	aQStatsRXBytes            = 9
	aQStatsTXPackets          = 10
	aQStatsTXBytes            = 11
	aQStatsRXAllocFail        = 12
	aQStatsRXHWDrops          = 13
	aQStatsRXHWDropOverruns   = 14
	aQStatsRXHWDropRatelimits = 23
	aQStatsTXHWDrops          = 24
	aQStatsTXHWDropErrors     = 25
	aQStatsTXHWDropRatelimits = 32
	aQStatsTXStop             = 33
	aQStatsTXWake             = 34

	queueTypeRX = 0
	queueTypeTX = 1

	qstatsScopeQueue = 1
)

// Family "ethtool" (include/uapi/linux/ethtool_netlink.h and ethtool_netlink_generated.h).
const (
	aRSSContext   = 2
	aRSSHFunc     = 3
	aRSSIndir     = 4
	aRSSHKey      = 5
	aRSSInputXfrm = 6
	aRSSFlowHash  = 8

	aCoalesceTXAggrMaxBytes  = 26
	aCoalesceTXAggrMaxFrames = 27
	aCoalesceTXAggrTimeUsecs = 28

	msgRSSNtf       = 50 // kernel to user, 6.17
	msgRSSCreateNtf = 52
	msgRSSDeleteNtf = 53
)

// String sets of StringSet (enum ethtool_stringset, include/uapi/linux/ethtool.h).
const (
	StringsStats        = 1 // ETH_SS_STATS
	StringsPrivFlags    = 2 // ETH_SS_PRIV_FLAGS
	StringsFeatures     = 4 // ETH_SS_FEATURES
	StringsRSSHashFuncs = 5 // ETH_SS_RSS_HASH_FUNCS
)
