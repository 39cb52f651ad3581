import { expect, test } from 'bun:test'
import { ClusterContact } from './cluster-contact'
import type { SliceStore } from './slice-store'
import { systemClock } from '../../platform/clock'

const storeAtMs = 1_000_000

/** A store that lists these nodes as just seen. */
function storeWith(clock: { ms: number }, nodes: readonly string[]): SliceStore {
  const moment = () => ({
    nowMs: storeAtMs + clock.ms,
    epoch: 'epoch',
    sinceMs: 0,
    hasLostSlices: false,
  })
  return {
    kind: 'redis',
    isAway: false,
    read: async () => ({ ...moment(), slices: [] }),
    write: async () => [],
    beat: async () => ({
      ...moment(),
      seenAtMs: new Map(nodes.map((node) => [node, moment().nowMs])),
    }),
    leave: async () => undefined,
    recall: async () => undefined,
  }
}

/** Returns a node that has been in contact for some time. */
async function contactFor(ms: number, nodes: readonly string[], predecessor?: string) {
  const clock = { ms: 0 }
  const contact = new ClusterContact({
    store: storeWith(clock, nodes),
    node: 'own',
    predecessor,
    onLost: () => undefined,
    clock: { ...systemClock, monotonicMs: () => clock.ms },
  })
  for (; clock.ms < ms; clock.ms += 1000) await contact.beat()
  const at = (isWindow: boolean) =>
    contact.view(
      { nowMs: storeAtMs + clock.ms, epoch: 'epoch', sinceMs: 0, hasLostSlices: false },
      isWindow,
    )
  return { at, contact, nowMs: () => storeAtMs + clock.ms }
}

test('a node that crashed before its first report is silent after 5 s, and dead after 70 and 100', async () => {
  const { at, contact, nowMs } = await contactFor(200_000, ['own'])
  await using _contact = contact
  const [slots, window] = [at(false), at(true)]
  expect(slots.isSilent('gone', nowMs() - 4000)).toBe(false)
  expect(slots.isSilent('gone', nowMs() - 6000)).toBe(true)
  expect(slots.isDead('gone', nowMs() - 69_000)).toBe(false)
  expect(slots.isDead('gone', nowMs() - 71_000)).toBe(true)
  expect(window.isDead('gone', nowMs() - 99_000)).toBe(false)
  expect(window.isDead('gone', nowMs() - 101_000)).toBe(true)
})

test('a node that reports lives, however long ago it stated a slice', async () => {
  const { at, contact, nowMs } = await contactFor(200_000, ['own', 'other'])
  await using _contact = contact
  expect(at(false).isDead('other', nowMs() - 500_000)).toBe(false)
  expect(at(false).isSilent('other', nowMs() - 500_000)).toBe(false)
})

test('before 10 s of contact no node is believed dead but the process before', async () => {
  const { at, contact, nowMs } = await contactFor(5000, ['own'], 'before')
  await using _contact = contact
  expect(at(true).isDead('gone', nowMs() - 200_000)).toBe(false)
  expect(at(false).isDead('before', storeAtMs - 1000)).toBe(true)
  expect(at(false).isSilent('before', storeAtMs - 1000)).toBe(true)
  // What it used in its last minute still counts.
  expect(at(true).isDead('before', storeAtMs - 1000)).toBe(false)
})

test('a predecessor that still states slices is another process with a copy of the data directory', async () => {
  const { at, contact, nowMs } = await contactFor(5000, ['own'], 'before')
  await using _contact = contact
  expect(at(false).isDead('before', nowMs() - 1000)).toBe(false)
  expect(at(false).isSilent('before', nowMs() - 1000)).toBe(false)
})
