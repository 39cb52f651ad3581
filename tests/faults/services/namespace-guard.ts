/**
 * Runs in an isolated network namespace whose loopback has public and non-public addresses
 * of every kind, with a listener on each. Prints as one line of JSON what was connected to.
 */
import {
  closedAddresses,
  publicAddresses,
  takeAddresses,
  recordClosedConnections,
} from './namespace'
import { isPublic } from '../../../server/src/upstream/http/address'
import { GuardedEgress } from '../../../server/src/upstream/http/guarded-egress'
import { startNameServer } from '../../../server/testing/http/name-server'
import { queryNameServer, Names } from '../../../server/src/upstream/http/names'
import { authority, TestPeers } from '../../../server/testing/http/peers'
import { Transport } from '../../../server/src/upstream/http/transport'

/** The results; names are those of `zones`. */
export interface Findings {
  /** Status of each public name. */
  reached: Record<string, number>
  /** Name of the error for each other one. */
  refused: Record<string, string>
  /** Non-public addresses that were connected to. */
  trespassed: string[]
  /** With the production guard, which rejects addresses of this machine. */
  own: string[]
  /** Name of the error for bare public addresses, which the certificate does not name. */
  literal: unknown[]
}

const nameOf = (address: string) => `a${address.replaceAll(/[:.]/g, '-')}.wild.example`

takeAddresses()
using peers = new TestPeers()
for (const host of publicAddresses) await peers.peer(undefined, { host, port: 443 })
const trespassed = await recordClosedConnections()

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
  timers: { connectMs: 8000 },
  rules: { ports: [443], ownHosts: [] },
  transport: new Transport(),
  ca: authority,
}
const names = () => new Names(queryNameServer([server.address]))
const asInProduction = new GuardedEgress({ ...guard, names: names() })
// All of them are the machine's own here, which production rejects for that reason.
const guarded = new GuardedEgress({ ...guard, names: names(), isOpen: isPublic })

const outcome = (way: GuardedEgress, host: string) =>
  way
    .send({
      url: `https://${host}/v1`,
      owner: 'acc_1',
      method: 'GET',
      headers: {},
      signal: AbortSignal.timeout(30_000),
    })
    .then(
      ({ status }) => status,
      (thrown: unknown) => (thrown instanceof Error ? thrown.name : 'unknown'),
    )

const findings: Findings = { reached: {}, refused: {}, trespassed, own: [], literal: [] }
for (const host of zones.keys()) {
  const came = await outcome(guarded, host)
  if (typeof came === 'number') findings.reached[host] = came
  else findings.refused[host] = came
  if ((await outcome(asInProduction, host)) === 'AddressRefused') findings.own.push(host)
}
for (const host of ['93.184.215.14', '[2606:4700:1::1]']) {
  findings.literal.push(await outcome(guarded, host))
}
await Bun.sleep(100)
console.log(JSON.stringify(findings))
process.exit(0)
