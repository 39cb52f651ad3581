/**
 * Runs alone in a network namespace whose loopback has addresses of the public internet and of
 * everything that is none, with a listener on each. Says as one line of JSON what was connected to.
 */
import { createServer } from 'node:net'
import { isPublic } from '../../server/src/egress/address'
import { GuardedEgress } from '../../server/src/egress/guarded-egress'
import { startNameServer } from '../../server/src/egress/name-server-for-tests'
import { askNameServer, Names } from '../../server/src/egress/names'
import { authority, TestStage } from '../../server/src/egress/stage-for-tests'
import { Transport } from '../../server/src/egress/transport'

/** What was found out there; names are those of `zones`. */
export interface Findings {
  /** Status of each public name. */
  reached: Record<string, number>
  /** Name of the error for each other one. */
  refused: Record<string, string>
  /** Addresses that something connected to although they are not public. */
  trespassed: string[]
  /** With the guard of production, for which nothing of this machine is open. */
  own: string[]
}

const publicAddresses = ['93.184.215.14', '2606:4700:1::1']
const closedAddresses = [
  ...'10.1.2.3 172.16.5.5 172.31.255.254 192.168.1.1 100.64.0.7 100.100.100.200'.split(' '),
  ...'169.254.169.254 169.254.170.2 192.0.0.192 192.0.2.8 192.88.99.1 198.18.0.9'.split(' '),
  ...'198.51.100.4 203.0.113.9 168.63.129.16 127.0.0.1 127.8.8.8 192.175.48.1'.split(' '),
  ...'fd00:ec2::254 fc00::5 fec0::1 64:ff9b::a01:203 64:ff9b:1::1 2002:a01:203::1'.split(' '),
  ...'2001:0:a01:203::1 2001:db8::5 2001:2::1 2001:20::1 3fff::1 5f00::1 100::1'.split(' '),
  ...'::1 2a00:1450::5efe:a01:203 3ffe::1 4000::1'.split(' '),
]
const nameOf = (address: string) => `a${address.replaceAll(/[:.]/g, '-')}.wild.example`

const ip = (...words: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(['ip', ...words])
  if (exitCode !== 0) throw new Error(`ip ${words.join(' ')}: ${stderr.toString()}`)
}
ip('link', 'set', 'lo', 'up')
for (const address of [...publicAddresses, ...closedAddresses].filter(
  (one) => !/^127|^::1/.test(one),
)) {
  ip('address', 'add', `${address}/${address.includes(':') ? '128' : '32'}`, 'dev', 'lo')
}
using stage = new TestStage()
for (const host of publicAddresses) await stage.peer(undefined, { host, port: 443 })
const trespassed: string[] = []
for (const host of closedAddresses) {
  const listener = createServer((socket) => {
    trespassed.push(host)
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(443, host, resolve))
}

const zones = new Map(
  [...publicAddresses, ...closedAddresses].flatMap((address) => [
    [nameOf(address), [address]],
    [`mixed-${nameOf(address)}`, [...new Set([...publicAddresses, address])]],
  ]),
)
const server = await startNameServer((name) => {
  const addresses = zones.get(name)
  return addresses && { addresses }
})
const guard = {
  timers: { connectMs: 2000 },
  rules: { ports: [443], ownHosts: [] },
  transport: new Transport(),
  ca: authority,
}
const names = () => new Names(askNameServer([server.address]))
const asInProduction = new GuardedEgress({ ...guard, names: names() })
// All of them are this machine's own here, which production refuses for that alone.
const guarded = new GuardedEgress({ ...guard, names: names(), isOpen: isPublic })

const outcome = (way: GuardedEgress, host: string) =>
  way
    .send({
      url: `https://${host}/v1`,
      owner: 'acc_1',
      method: 'GET',
      headers: {},
      signal: AbortSignal.timeout(5000),
    })
    .then(
      ({ status }) => status,
      (thrown: unknown) => (thrown instanceof Error ? thrown.name : 'unknown'),
    )

const findings: Findings = { reached: {}, refused: {}, trespassed, own: [] }
for (const host of zones.keys()) {
  const came = await outcome(guarded, host)
  if (typeof came === 'number') findings.reached[host] = came
  else findings.refused[host] = came
  if ((await outcome(asInProduction, host)) === 'AddressRefused') findings.own.push(host)
}
await Bun.sleep(100)
console.log(JSON.stringify(findings))
process.exit(0)
