// Migrations that take time, and starts on the requested host. A VM that is wrapped in slowVM answers RelocateVM_Task at once
// with a task that stays running while the VM stays on its source, and runs govmomi's own relocation at the end. Meanwhile the
// task is in the VM's recentTask, makes progress, and can be cancelled, as at a vCenter.
package main

import (
	"sync/atomic"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

const steps = 20

type slowVM struct {
	simulator.VirtualMachine // by value: govmomi looks for the managed object in the first field

	takes   time.Duration
	broken  bool
	refuses map[string]bool // destinations, by their names
	busy    int32
}

// The library starts a VM where it is registered, whatever host it is given. A vCenter registers it there first.
func (vm *slowVM) PowerOnVMTask(ctx *simulator.Context, req *types.PowerOnVM_Task) soap.HasFault {
	if req.Host != nil {
		vm.VirtualMachine.RelocateVMTask(ctx, &types.RelocateVM_Task{
			This: req.This,
			Spec: types.VirtualMachineRelocateSpec{Host: req.Host},
		})
	}
	return vm.VirtualMachine.PowerOnVMTask(ctx, req)
}

type slowTask struct {
	simulator.Task

	cancelled int32
}

// Whether the relocation to this host ends in an error.
func (vm *slowVM) fails(ctx *simulator.Context, to *types.ManagedObjectReference) bool {
	if vm.broken || to == nil {
		return vm.broken
	}
	host, ok := simulator.Map.Get(*to).(*simulator.HostSystem)
	return ok && vm.refuses[host.Name]
}

// Wraps every VM that is there.
func slowDown(takes time.Duration, broken bool, refuses map[string]bool) {
	for _, e := range simulator.Map.All("VirtualMachine") {
		if vm, ok := e.(*simulator.VirtualMachine); ok {
			simulator.Map.Put(&slowVM{VirtualMachine: *vm, takes: takes, broken: broken, refuses: refuses})
		}
	}
}

func (t *slowTask) CancelTask(req *types.CancelTask) soap.HasFault {
	atomic.StoreInt32(&t.cancelled, 1)
	return &methods.CancelTaskBody{Res: new(types.CancelTaskResponse)}
}

func (vm *slowVM) recent(tasks []types.ManagedObjectReference) {
	simulator.Map.Update(&vm.VirtualMachine, []types.PropertyChange{{Name: "recentTask", Val: tasks}})
}

func (t *slowTask) set(name string, val types.AnyType) {
	simulator.Map.WithLock(t, func() {
		simulator.Map.Update(&t.Task, []types.PropertyChange{{Name: name, Val: val}})
	})
}

// Waits as long as the migration takes; false when it was cancelled.
func (t *slowTask) run(takes time.Duration) bool {
	for i := int32(0); i < steps; i++ {
		time.Sleep(takes / steps)
		if atomic.LoadInt32(&t.cancelled) != 0 {
			return false
		}
		t.set("info.progress", i*100/steps)
	}
	return true
}

func (t *slowTask) fail(fault types.BaseMethodFault, text string) {
	t.set("info.completeTime", time.Now())
	t.set("info.error", types.LocalizedMethodFault{Fault: fault, LocalizedMessage: text})
	t.set("info.state", types.TaskInfoStateError)
}

func (vm *slowVM) RelocateVMTask(ctx *simulator.Context, req *types.RelocateVM_Task) soap.HasFault {
	if !atomic.CompareAndSwapInt32(&vm.busy, 0, 1) {
		return &methods.RelocateVM_TaskBody{
			Fault_: simulator.Fault("Another task is already in progress.", &types.TaskInProgress{}),
		}
	}
	task := &slowTask{Task: *simulator.CreateTask(&vm.VirtualMachine, "relocateVm", nil)}
	now := time.Now()
	task.Info.State = types.TaskInfoStateRunning
	task.Info.StartTime = &now
	task.Info.Cancelable = true
	simulator.Map.Put(task)
	vm.recent([]types.ManagedObjectReference{task.Self})

	var refused []types.LocalizedMethodFault
	if checking && req.Spec.Host != nil {
		refused = incompatibilities(vm.Self, *req.Spec.Host)
	}
	fails := vm.fails(ctx, req.Spec.Host)

	go func() {
		arrives := task.run(vm.takes)
		simulator.Map.WithLock(vm, func() {
			if arrives && !fails && refused == nil {
				vm.VirtualMachine.RelocateVMTask(ctx, req)
			}
			vm.recent(nil)
			atomic.StoreInt32(&vm.busy, 0)
		})
		switch {
		case !arrives:
			task.fail(&types.RequestCanceled{}, "The task was canceled by a user.")
		case refused != nil:
			task.fail(&types.MigrationFault{}, refused[0].LocalizedMessage)
		case fails:
			task.fail(&types.MigrationFault{}, "The migration failed: the destination did not answer.")
		default:
			task.set("info.progress", int32(100))
			task.set("info.completeTime", time.Now())
			task.set("info.state", types.TaskInfoStateSuccess)
		}
	}()

	return &methods.RelocateVM_TaskBody{Res: &types.RelocateVM_TaskResponse{Returnval: task.Self}}
}
