import { afterEach, expect, test } from 'bun:test'
import { startNameServer, type Zone } from '../../../testing/http/name-server'
import { askNameServer, Names, NotResolved } from './names'

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function stage(zones: Record<string, Zone | (() => Zone)>) {
  const server = await startNameServer((name) => {
    const zone = zones[name]
    return typeof zone === 'function' ? zone() : zone
  })
  open.push(() => server.close())
  const names = new Names(askNameServer([server.address]))
  const look = (name: string, deadlineMs = 2000, owner = 'acc_1') =>
    names.addressesOf({ name, owner, deadlineMs })
  return { server, names, look }
}

test('X05: all addresses of a name are told, of both families and behind other names', async () => {
  const { look } = await stage({
    'both.example': { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
    'six.example': { addresses: ['::ffff:10.0.0.1'] },
    'chain.example': { cname: 'elsewhere.example', addresses: ['10.0.0.1', 'fd00::1'] },
  })
  expect(await look('both.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1'])
  expect(await look('six.example')).toEqual(['::ffff:10.0.0.1'])
  expect(await look('chain.example')).toEqual(['10.0.0.1', 'fd00::1'])
})

test('X05: what was told is kept, whatever its TTL, until it is forgotten', async () => {
  let last = 0
  const { server, names, look } = await stage({
    'one.example': () => ({ addresses: [`192.0.2.${Math.ceil(++last / 2)}`] }),
  })
  const both = await Promise.all([look('one.example'), look('one.example', 2000, 'acc_2')])
  expect(both).toEqual([['192.0.2.1'], ['192.0.2.1']])
  await look('one.example')
  expect(server.asked.toSorted()).toEqual(['one.example A', 'one.example AAAA'])
  names.forget('one.example')
  expect(await look('one.example')).toEqual(['192.0.2.2'])
})

test('X05: a name that has no address now may have one next time', async () => {
  let zone: Zone = { failure: 3 }
  const { look } = await stage({ 'late.example': () => zone })
  await expect(look('late.example')).rejects.toBeInstanceOf(NotResolved)
  zone = { failure: 2 }
  await expect(look('late.example')).rejects.toBeInstanceOf(NotResolved)
  zone = { addresses: ['192.0.2.1'] }
  expect(await look('late.example')).toEqual(['192.0.2.1'])
})

test.each([Infinity, 30_000])(
  'X05: a server that takes %d ms is given up in time',
  async (delayMs) => {
    const { look, server } = await stage({ 'slow.example': { delayMs, addresses: ['192.0.2.1'] } })
    const startedAt = performance.now()
    await expect(look('slow.example', 400)).rejects.toBeInstanceOf(NotResolved)
    expect(performance.now() - startedAt).toBeWithin(100, 900)
    expect(server.asked).toContain('slow.example A')
  },
)

test('X05: one answer of two that are wanted is enough, when the other does not come', async () => {
  const server = await startNameServer((name) =>
    server.asked.at(-1)?.endsWith('AAAA')
      ? { delayMs: Infinity }
      : { addresses: [name && '192.0.2.1'] },
  )
  open.push(() => server.close())
  const names = new Names(askNameServer([server.address]))
  const addresses = await names.addressesOf({ name: 'a.example', owner: 'acc_1', deadlineMs: 400 })
  expect(addresses).toEqual(['192.0.2.1'])
})

test('X24: a name server that has died is given up in time, and no other one is asked', async () => {
  const { look, server } = await stage({ 'one.example': { addresses: ['192.0.2.1'] } })
  server.close()
  open.length = 0
  const startedAt = performance.now()
  // The machine's own would know it.
  await expect(look('localhost', 600)).rejects.toBeInstanceOf(NotResolved)
  await expect(look('one.example', 600)).rejects.toBeInstanceOf(NotResolved)
  expect(performance.now() - startedAt).toBeLessThan(1500)
})

test.each([33, 1000, 10_000])('X05: a name of %d addresses has too many', async (count) => {
  const addresses = Array.from({ length: count }, (_, n) => `192.0.${n >> 8}.${n & 255}`)
  const { look } = await stage({
    'many.example': { addresses },
    'few.example': { addresses: addresses.slice(0, 32) },
  })
  await expect(look('many.example')).rejects.toBeInstanceOf(NotResolved)
  expect(await look('few.example')).toHaveLength(32)
})

test('who has many slow names waits for them alone', async () => {
  const { look } = await stage({
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`s${n}.example`, { delayMs: Infinity }]),
    ),
    'quick.example': { addresses: ['192.0.2.1'] },
  })
  const slow = Array.from({ length: 8 }, (_, n) => look(`s${n}.example`, 400).catch(() => 'slow'))
  await expect(look('s8.example', 400)).rejects.toThrow('too many names')
  expect(await look('quick.example', 400, 'acc_2')).toEqual(['192.0.2.1'])
  expect(await Promise.all(slow)).toEqual(Array(8).fill('slow'))
  expect(await look('quick.example', 400)).toEqual(['192.0.2.1'])
})

test('X05: a name of this machine alone is asked for outside, like any other', async () => {
  const { look, server } = await stage({ localhost: { addresses: ['192.0.2.9'] } })
  expect(await look('localhost')).toEqual(['192.0.2.9'])
  expect(server.asked).toContain('localhost A')
})
