package procfile

import (
	"slices"
	"testing"
)

// Each form of tail over kernels 2.6 to 7.2 and architectures comes apart.
func TestSplitTail(t *testing.T) {
	tests := []struct {
		tail, chip, hwirq, flow string
		actions                 []string
	}{
		// x86, 3.x and later
		{"IO-APIC   2-edge      timer", "IO-APIC", "2", "edge", []string{"timer"}},
		{"IR-IO-APIC   9-fasteoi   acpi", "IR-IO-APIC", "9", "fasteoi", []string{"acpi"}},
		{"PCI-MSI 524288-edge      eth0-TxRx-0", "PCI-MSI", "524288", "edge", []string{"eth0-TxRx-0"}},
		{"PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0", "PCI-MSIX-0000:00:03.0", "1", "edge", []string{"virtio2-input.0"}},
		{"IO-APIC  16-fasteoi   ehci_hcd:usb1, eth0, eth1", "IO-APIC", "16", "fasteoi", []string{"ehci_hcd:usb1", "eth0", "eth1"}},
		{"IR-PCI-MSI 524288-edge", "IR-PCI-MSI", "524288", "edge", nil},
		{"Hyper-V PCIe MSI 4138200989697-edge      mana_q0@pci:7870:00:00.0", "Hyper-V PCIe MSI", "4138200989697", "edge", []string{"mana_q0@pci:7870:00:00.0"}},
		{"Hyper-V PCIe MSI -1610612736-edge      mlx5_comp1@pci:0001:00:02.0", "Hyper-V PCIe MSI", "-1610612736", "edge", []string{"mlx5_comp1@pci:0001:00:02.0"}},
		{"IR-PCI-MSI 333825-edge      iwlwifi: queue 1", "IR-PCI-MSI", "333825", "edge", []string{"iwlwifi: queue 1"}},
		{"PCI-MSIX-0000:00:02.0   0-edge      PCIe PME, aerdrv", "PCI-MSIX-0000:00:02.0", "0", "edge", []string{"PCIe PME", "aerdrv"}},
		{"DMAR-MSI   0-edge      dmar0", "DMAR-MSI", "0", "edge", []string{"dmar0"}},
		{"IR-PCI-MSI 512000-edge      vfio-msix[3](0000:01:00.0)", "IR-PCI-MSI", "512000", "edge", []string{"vfio-msix[3](0000:01:00.0)"}},
		// x86 7.2, chip left-justified and padded
		{"IO-APIC                  2-edge      timer", "IO-APIC", "2", "edge", []string{"timer"}},
		{"Hyper-V PCIe MSI      1234-edge      mana_msi1@pci:7870:00:00.0", "Hyper-V PCIe MSI", "1234", "edge", []string{"mana_msi1@pci:7870:00:00.0"}},
		// x86, 2.6: no hwirq
		{"IO-APIC-edge      timer", "IO-APIC", "", "edge", []string{"timer"}},
		{"IO-APIC-edge", "IO-APIC", "", "edge", nil},
		{"IO-APIC-fasteoi   acpi", "IO-APIC", "", "fasteoi", []string{"acpi"}},
		{"PCI-MSI-edge      eth0-rx-0", "PCI-MSI", "", "edge", []string{"eth0-rx-0"}},
		{"XT-PIC-XT         cascade", "XT-PIC", "", "XT", []string{"cascade"}},
		{"XT-PIC  timer", "XT-PIC", "", "", []string{"timer"}},
		// Xen
		{"xen-dyn-event     vif0-q0-tx", "xen-dyn", "", "event", []string{"vif0-q0-tx"}},
		{"xen-dyn    -event     vif0-q0-rx", "xen-dyn", "", "event", []string{"vif0-q0-rx"}},
		{"xen-pirq-msi-x     eth0-TxRx-0", "xen-pirq", "", "msi-x", []string{"eth0-TxRx-0"}},
		{"xen-pirq-ioapic-level  acpi", "xen-pirq", "", "ioapic-level", []string{"acpi"}},
		{"xen-percpu-virq      timer0", "xen-percpu", "", "virq", []string{"timer0"}},
		{"xen-percpu    -ipi       resched0", "xen-percpu", "", "ipi", []string{"resched0"}},
		// arm, arm64, powerpc
		{"GICv3  33 Level     eth0", "GICv3", "33", "Level", []string{"eth0"}},
		{"GICv3  33 Level  eth0", "GICv3", "33", "Level", []string{"eth0"}},
		{"ITS-MSI 575143937 Edge      mpt3sas0-msix1", "ITS-MSI", "575143937", "Edge", []string{"mpt3sas0-msix1"}},
		{"ITS-PCI-MSIX-0002:00:00.0   1 Edge      eth0-rxtx0", "ITS-PCI-MSIX-0002:00:00.0", "1", "Edge", []string{"eth0-rxtx0"}},
		{"ARMCTRL-level  48 Edge      bcm2708_fb dma", "ARMCTRL-level", "48", "Edge", []string{"bcm2708_fb dma"}},
		{"ARMCTRL Edge      dwc_otg, dwc_otg_pcd", "ARMCTRL", "", "Edge", []string{"dwc_otg", "dwc_otg_pcd"}},
		{"armada_370_xp_irq   8  mvneta", "armada_370_xp_irq", "8", "", []string{"mvneta"}},
		{"GICv2  97 Level     QMan portal 0", "GICv2", "97", "Level", []string{"QMan portal 0"}},
		{"GIC  eth0 TXQ 0, eth0 RXQ 0", "GIC", "", "", []string{"eth0 TXQ 0", "eth0 RXQ 0"}},
		// riscv: trigger and handler
		{"SiFive PLIC  10  ttyS0", "SiFive PLIC", "10", "", []string{"ttyS0"}},
		{"RISC-V INTC   5 Edge      riscv-timer", "RISC-V INTC", "5", "Edge", []string{"riscv-timer"}},
		{"APLIC-MSI-d000000.aplic  12 Edge    -fasteoi   end0", "APLIC-MSI-d000000.aplic", "12", "fasteoi", []string{"end0"}},
		{"APLIC  12 Edge -fasteoi end0", "APLIC", "12", "fasteoi", []string{"end0"}},
		// s390
		{"PCI-MSI  mlx5_comp0@pci:0001:00:00.0", "PCI-MSI", "", "", []string{"mlx5_comp0@pci:0001:00:00.0"}},
		// an IRQ whose chip has no name, or that has no chip
		{"-   5  eth0", "-", "5", "", []string{"eth0"}},
		{"None  eth0", "None", "", "", []string{"eth0"}},
		// names that hold a comma, or end with one
		{"GICv3  33 Level     a,b, c,", "GICv3", "33", "Level", []string{"a,b", "c,"}},
		// rows without an IRQ number: the description
		{"Non-maskable interrupts", "Non-maskable interrupts", "", "", nil},
		{"CPU stop (for crash dump) interrupts", "CPU stop (for crash dump) interrupts", "", "", nil},
		{"[EXT] Clock Comparator", "[EXT] Clock Comparator", "", "", nil},
		{"usb_fiq", "usb_fiq", "", "", nil},
		{"", "", "", "", nil},
	}
	for _, tt := range tests {
		got := SplitTail(tt.tail)
		if got.Chip != tt.chip || got.HWIRQ != tt.hwirq || got.Flow != tt.flow || !slices.Equal(got.Actions, tt.actions) {
			t.Errorf("%q is %+v", tt.tail, got)
		}
	}
}
