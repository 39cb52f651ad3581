/**
 * Runs as root in an isolated network namespace: the guard is disabled, and only the system's rules
 * for one user id apply. Prints as one line of JSON what was connected to.
 */
import {
  closedAddresses,
  ip,
  publicAddresses,
  takeAddresses,
  recordClosedConnections,
} from './namespace'
import { GuardedEgress } from '../../../server/src/upstream/http/guarded-egress'
import { Names } from '../../../server/src/upstream/http/names'
import { authority, TestPeers } from '../../../server/testing/http/peers'
import { Transport } from '../../../server/src/upstream/http/transport'

export interface SecondLayer {
  /** By root, to whom the rules do not apply. */
  before: string[]
  /** By the user of the rules. */
  after: string[]
  reached: number
}

const userId = 61_234

/** The rules that SECURITY.md tells operators to set, line by line. */
const advice = await Bun.file(`${import.meta.dir}/../../../SECURITY.md`).text()
const rules = advice.matchAll(/^ip (-6 )?rule add pref 50 uidrange UID-UID to (\S+) prohibit$/gm)

takeAddresses()
using peers = new TestPeers()
for (const host of publicAddresses) await peers.peer(undefined, { host, port: 443 })
const trespassed = await recordClosedConnections()
for (const family of ['-4', '-6']) {
  // Loopback has all addresses here, and local addresses would match before any other rule.
  ip(family, 'rule', 'add', 'pref', '100', 'lookup', 'local')
  ip(family, 'rule', 'del', 'pref', '0')
}
for (const [, version = '-4', network = ''] of rules) {
  const range = `${userId}-${userId}`
  ip(version.trim(), 'rule', 'add', 'pref', '50', 'uidrange', range, 'to', network, 'prohibit')
}

/** Sends to each address through a disabled guard. */
async function sendToAll(addresses: readonly string[]): Promise<number> {
  const outcomes = addresses.map(async (address) => {
    const unguarded = new GuardedEgress({
      timers: { connectMs: 8000 },
      rules: { ports: [443], ownHosts: [] },
      names: new Names(() => Promise.resolve([address])),
      transport: new Transport(),
      isOpen: () => true,
      ca: authority,
    })
    const signal = AbortSignal.timeout(30_000)
    const call = { url: 'https://one.example/', method: 'GET' as const, headers: {}, signal }
    return unguarded.send({ ...call, owner: 'acc_1' }).then(
      () => 1,
      () => 0,
    )
  })
  const counts: number[] = await Promise.all(outcomes)
  return counts.reduce((sum, count) => sum + count, 0)
}

await sendToAll(closedAddresses)
await Bun.sleep(100)
const before = [...new Set(trespassed.splice(0))]
process.setuid?.(userId)
await sendToAll(closedAddresses)
const reached = await sendToAll(publicAddresses)
await Bun.sleep(100)
console.log(JSON.stringify({ before, after: trespassed, reached } satisfies SecondLayer))
process.exit(0)
