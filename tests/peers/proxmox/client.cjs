// client.cjs: npm's proxmox-api against the test server: reads, migrates a guest, waits for the task. In: {host, token, secret} as JSON on
// standard input; out: what it saw.
const proxmoxApi = require("proxmox-api");
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));

async function main() {
  const [host, port] = given.host.split(":");
  const api = proxmoxApi.default({ host, port: Number(port), tokenID: given.token, tokenSecret: given.secret });
  const version = await api.version.$get();
  const nodes = await api.nodes.$get();
  const guests = await api.cluster.resources.$get({ type: "vm" });
  const n1 = api.nodes.$("n1");
  const config = await n1.qemu.$(100).config.$get();
  const upid = await n1.qemu.$(100).migrate.$post({ target: "n2", online: true });
  let status;
  for (let i = 0; i < 200; i++) {
    status = await n1.tasks.$(upid).status.$get();
    if (status.status === "stopped") break;
    await new Promise((done) => setTimeout(done, 100));
  }
  return { release: version.release, nodes: nodes.length, guests: guests.length, net0: config.net0, exit: status.exitstatus };
}

main().then((seen) => process.stdout.write(JSON.stringify(seen)), (e) => {
  console.error(e);
  process.exit(1);
});
