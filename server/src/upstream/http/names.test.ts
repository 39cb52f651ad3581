import { afterEach, expect, test } from 'bun:test'
import { startNameServer, type Zone } from '../../../testing/http/name-server'
import { queryNameServer, Names, NotResolved } from './names'
import { recordTimeFigure } from '../../../testing/figures'
import type { Clock } from '../../platform/clock'
import { TestClock } from '../../../testing/clock'
import { polled } from '../../../testing/http/raw-peers'
import { eventually } from '../../../testing/eventually'

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function createFixture(zones: Record<string, Zone | (() => Zone)>, clock?: Clock) {
  const server = await startNameServer((name) => {
    const zone = zones[name]
    return typeof zone === 'function' ? zone() : zone
  })
  open.push(() => server.close())
  const names = new Names(queryNameServer([server.address], clock))
  const resolve = (name: string, deadlineMs = 20_000, owner = 'acc_1') =>
    names.addressesOf({ name, owner, deadlineMs })
  return { server, names, resolve }
}

test('X05: returns all addresses of a name, of both families and behind aliases', async () => {
  const { resolve } = await createFixture({
    'both.example': { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
    'six.example': { addresses: ['::ffff:10.0.0.1'] },
    'chain.example': { cname: 'elsewhere.example', addresses: ['10.0.0.1', 'fd00::1'] },
  })
  expect(await resolve('both.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1'])
  expect(await resolve('six.example')).toEqual(['::ffff:10.0.0.1'])
  expect(await resolve('chain.example')).toEqual(['10.0.0.1', 'fd00::1'])
})

test('X05: caches addresses, for any TTL, until they are evicted', async () => {
  let last = 0
  const { server, names, resolve } = await createFixture({
    'one.example': () => ({ addresses: [`192.0.2.${Math.ceil(++last / 2)}`] }),
  })
  const both = await Promise.all([resolve('one.example'), resolve('one.example', 20_000, 'acc_2')])
  expect(both).toEqual([['192.0.2.1'], ['192.0.2.1']])
  await resolve('one.example')
  expect(server.queries.toSorted()).toEqual(['one.example A', 'one.example AAAA'])
  names.forget('one.example')
  expect(await resolve('one.example')).toEqual(['192.0.2.2'])
})

test('X05: a name that has no address now may have one next time', async () => {
  let zone: Zone = { failure: 3 }
  const { resolve } = await createFixture({ 'late.example': () => zone })
  await expect(resolve('late.example')).rejects.toBeInstanceOf(NotResolved)
  zone = { failure: 2 }
  await expect(resolve('late.example')).rejects.toBeInstanceOf(NotResolved)
  zone = { addresses: ['192.0.2.1'] }
  expect(await resolve('late.example')).toEqual(['192.0.2.1'])
})

test.each([Infinity, 30_000])(
  'X05: a server that takes %d ms is given up in time',
  async (delayMs) => {
    const { resolve, server } = await createFixture({
      'slow.example': { delayMs, addresses: ['192.0.2.1'] },
    })
    const name = `a lookup of 400 ms, of a server that takes ${delayMs} ms`
    const looking = () => resolve('slow.example', 400).catch((thrown: unknown) => thrown)
    expect(await recordTimeFigure(name, { atMost: 900 }, looking)).toBeInstanceOf(NotResolved)
    await eventually(() => server.queries.includes('slow.example A'))
  },
)

test('X05: a lookup has all of its time, and not more', async () => {
  const clock = new TestClock()
  const zones = { 'slow.example': { delayMs: Infinity } }
  const { resolve, server } = await createFixture(zones, clock)
  const state = { isOver: false }
  const looking = resolve('slow.example', 400_000)
    .catch((thrown: unknown) => thrown)
    .finally(() => (state.isOver = true))
  await eventually(() => server.queries.length === 2)
  await clock.advance(399_999)
  await polled()
  expect(state.isOver).toBe(false)
  await clock.advance(1)
  await polled()
  expect(state.isOver).toBe(true)
  expect(await looking).toBeInstanceOf(NotResolved)
  expect(clock.pending).toBe(0)
})

test('X05: one answer of two that are wanted is enough, when the other does not come', async () => {
  const server = await startNameServer((name) =>
    server.queries.at(-1)?.endsWith('AAAA')
      ? { delayMs: Infinity }
      : { addresses: [name && '192.0.2.1'] },
  )
  open.push(() => server.close())
  const names = new Names(queryNameServer([server.address]))
  const addresses = await names.addressesOf({ name: 'a.example', owner: 'acc_1', deadlineMs: 3000 })
  expect(addresses).toEqual(['192.0.2.1'])
})

test('X24: a name server that is down times out, and no other one is queried', async () => {
  const { resolve, server } = await createFixture({ 'one.example': { addresses: ['192.0.2.1'] } })
  server.close()
  open.length = 0
  await recordTimeFigure(
    'two lookups of 600 ms, of a server that is down',
    { atMost: 1500 },
    async () => {
      // The machine's own would know it.
      await expect(resolve('localhost', 600)).rejects.toBeInstanceOf(NotResolved)
      await expect(resolve('one.example', 600)).rejects.toBeInstanceOf(NotResolved)
    },
  )
})

test.each([33, 1000, 10_000])('X05: a name of %d addresses has too many', async (count) => {
  const addresses = Array.from({ length: count }, (_, n) => `192.0.${n >> 8}.${n & 255}`)
  const { resolve } = await createFixture({
    'many.example': { addresses },
    'few.example': { addresses: addresses.slice(0, 32) },
  })
  await expect(resolve('many.example')).rejects.toBeInstanceOf(NotResolved)
  expect(await resolve('few.example')).toHaveLength(32)
})

test('an owner of many slow names delays only its own requests', async () => {
  const { resolve } = await createFixture({
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`s${n}.example`, { delayMs: Infinity }]),
    ),
    'quick.example': { addresses: ['192.0.2.1'] },
  })
  const slow = Array.from({ length: 8 }, (_, n) =>
    resolve(`s${n}.example`, 400).catch(() => 'slow'),
  )
  await expect(resolve('s8.example', 400)).rejects.toThrow('too many names')
  expect(await resolve('quick.example', 20_000, 'acc_2')).toEqual(['192.0.2.1'])
  expect(await Promise.all(slow)).toEqual(Array(8).fill('slow'))
  expect(await resolve('quick.example')).toEqual(['192.0.2.1'])
})

test('X05: a name of this machine is resolved by the name server, like any other', async () => {
  const { resolve, server } = await createFixture({ localhost: { addresses: ['192.0.2.9'] } })
  expect(await resolve('localhost')).toEqual(['192.0.2.9'])
  expect(server.queries).toContain('localhost A')
})
