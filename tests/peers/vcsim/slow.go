// Migrations that take time, and starts on the requested host. A VM that is wrapped in slowVM answers RelocateVM_Task at once
// with a task that stays running while the VM stays on its source, and runs govmomi's own relocation at the end. Meanwhile the
// task is in the VM's recentTask, makes progress, and can be cancelled, as at a vCenter.
package main

import (
	"encoding/json"
	"io"
	"io/ioutil"
	"net/http"
	"strings"
	"sync"
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

	rules *relocationRules
	busy  int32
}

// How relocations go, for all VMs.
type relocationRules struct {
	takes  time.Duration
	broken bool  // all end in an error
	every  int64 // one in so many ends in an error; 0: none

	lock    sync.Mutex
	refuses map[string]bool // destinations that answer with an error, by their names
	begun   int64
	first   time.Time
	record  []relocationEvent
}

// What a test reads with GET /relocations, in the order in which it happened.
type relocationEvent struct {
	Event string `json:"event"` // begun, arrived, failed
	Ms    int64  `json:"ms"`    // since the first event
	VM    string `json:"vm"`
	Host  string `json:"host"`
}

func (r *relocationRules) note(event string, vm types.ManagedObjectReference, host *types.ManagedObjectReference) {
	e := relocationEvent{Event: event, VM: vm.Value}
	if host != nil {
		e.Host = host.Value
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.record == nil {
		r.first = time.Now()
	}
	e.Ms = time.Since(r.first).Milliseconds()
	r.record = append(r.record, e)
}

func (r *relocationRules) refuse(names string) {
	refuses := map[string]bool{}
	for _, name := range strings.Split(names, ",") {
		refuses[name] = name != ""
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.refuses = refuses
}

// Whether the relocation to this host ends in an error.
func (r *relocationRules) fails(to *types.ManagedObjectReference) bool {
	name := ""
	if to != nil {
		if host, ok := simulator.Map.Get(*to).(*simulator.HostSystem); ok {
			name = host.Name
		}
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.begun++
	return r.broken || r.refuses[name] || r.every > 0 && r.begun%r.every == 0
}

// A back door of ours: GET /relocations gives the record, POST /refuse replaces the hosts that refuse.
func (r *relocationRules) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/relocations":
			r.lock.Lock()
			defer r.lock.Unlock()
			_ = json.NewEncoder(w).Encode(r.record)
		case "/refuse":
			names, _ := ioutil.ReadAll(io.LimitReader(req.Body, 1<<20))
			r.refuse(string(names))
		default:
			next.ServeHTTP(w, req)
		}
	})
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

// Wraps every VM that is there.
func slowDown(rules *relocationRules) {
	for _, e := range simulator.Map.All("VirtualMachine") {
		if vm, ok := e.(*simulator.VirtualMachine); ok {
			simulator.Map.Put(&slowVM{VirtualMachine: *vm, rules: rules})
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
	fails := vm.rules.fails(req.Spec.Host)
	vm.rules.note("begun", vm.Self, req.Spec.Host)

	go func() {
		arrives := task.run(vm.rules.takes)
		simulator.Map.WithLock(vm, func() {
			if arrives && !fails && refused == nil {
				vm.VirtualMachine.RelocateVMTask(ctx, req)
				vm.rules.note("arrived", vm.Self, req.Spec.Host)
			} else {
				vm.rules.note("failed", vm.Self, req.Spec.Host)
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
