// Compatibility of VMs with hosts, a type of our own: govmomi has the VirtualMachineProvisioningChecker without any method. It
// compares networks, datastores and vGPU profiles, and answers as a vCenter does, with a task whose result lists the errors.
// With -checker a slow relocation (slow.go) fails for the same reasons.
package main

import (
	"fmt"
	"sync/atomic"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

type provisioningChecker struct {
	mo.VirtualMachineProvisioningChecker
}

var checking bool
var asked int32 // checks begun, for the test that counts them

func startChecking() {
	checking = true
	ref := types.ManagedObjectReference{Type: "VirtualMachineProvisioningChecker", Value: "ProvChecker"}
	c := new(provisioningChecker)
	c.Self = ref
	simulator.Map.Put(c)
}

func has(list []types.ManagedObjectReference, ref types.ManagedObjectReference) bool {
	for _, r := range list {
		if r == ref {
			return true
		}
	}
	return false
}

func missing(what string, ref types.ManagedObjectReference) types.LocalizedMethodFault {
	name := ref.Value
	if e, ok := simulator.Map.Get(ref).(mo.Entity); ok {
		name = e.Entity().Name
	}
	return types.LocalizedMethodFault{
		Fault:            &types.CannotAccessVmComponent{},
		LocalizedMessage: fmt.Sprintf("Currently connected %s '%s' is not accessible", what, name),
	}
}

func vgpus(vm *mo.VirtualMachine) (list []string) {
	for _, d := range vm.Config.Hardware.Device {
		if b, ok := d.GetVirtualDevice().Backing.(*types.VirtualPCIPassthroughVmiopBackingInfo); ok {
			list = append(list, b.Vgpu)
		}
	}
	return list
}

func incompatibilities(vmRef, hostRef types.ManagedObjectReference) (errors []types.LocalizedMethodFault) {
	var vm *mo.VirtualMachine
	switch o := simulator.Map.Get(vmRef).(type) {
	case *slowVM:
		vm = &o.VirtualMachine.VirtualMachine
	case *simulator.VirtualMachine:
		vm = &o.VirtualMachine
	}
	host, ok := simulator.Map.Get(hostRef).(*simulator.HostSystem)
	if vm == nil || !ok {
		return nil
	}
	for _, n := range vm.Network {
		if !has(host.Network, n) {
			errors = append(errors, missing("network", n))
		}
	}
	for _, d := range vm.Datastore {
		if !has(host.Datastore, d) {
			errors = append(errors, missing("datastore", d))
		}
	}
	for _, profile := range vgpus(vm) {
		there := false
		for _, p := range host.Config.SharedPassthruGpuTypes {
			there = there || p == profile
		}
		if !there {
			errors = append(errors, types.LocalizedMethodFault{
				Fault:            &types.MigrationFault{},
				LocalizedMessage: fmt.Sprintf("vGPU profile '%s' is not available", profile),
			})
		}
	}
	return errors
}

func (c *provisioningChecker) QueryVMotionCompatibilityExTask(req *types.QueryVMotionCompatibilityEx_Task) soap.HasFault {
	atomic.AddInt32(&asked, 1)
	task := simulator.CreateTask(c, "queryVMotionCompatibilityEx", func(*simulator.Task) (types.AnyType, types.BaseMethodFault) {
		var results types.ArrayOfCheckResult
		for i := range req.Vm {
			for k := range req.Host {
				results.CheckResult = append(results.CheckResult, types.CheckResult{
					Vm:    &req.Vm[i],
					Host:  &req.Host[k],
					Error: incompatibilities(req.Vm[i], req.Host[k]),
				})
			}
		}
		return results, nil
	})
	return &methods.QueryVMotionCompatibilityEx_TaskBody{
		Res: &types.QueryVMotionCompatibilityEx_TaskResponse{Returnval: task.Run()},
	}
}
