import { expect, test } from 'bun:test'
import { delayRejection } from './delay-rejection'

/** Paces one answer. Tells what was counted for whom. */
async function paced(
  status: number,
  {
    owner,
    length,
    isSpent = false,
    bodyUsed = true,
  }: { owner?: string; length?: string; isSpent?: boolean; bodyUsed?: boolean } = {},
) {
  const spent: { owner: string; ms: number; kind: string }[] = []
  const spend = (of: string) => (ms: number, kind: 'useful' | 'idle') => {
    spent.push({ owner: of, ms, kind })
    if (isSpent) throw new Error('beyond every share')
    return undefined
  }
  const loopShares = { shareOf: (of: string) => ({ spend: spend(of) }) }
  const headers = length === undefined ? {} : { 'content-length': length }
  const request = { headers: new Headers(headers), bodyUsed }
  const response = new Response(null, { status })
  await delayRejection(response, { request, owner, address: () => '192.0.2.1' }, loopShares)
  return { spent, connection: response.headers.get('connection') }
}

test('S2: a refusal is counted for its account, else for its address, and its body with it', async () => {
  const { spent } = await paced(429, { owner: 'acc_1' })
  expect(spent).toEqual([{ owner: 'acc_1', ms: 0.2, kind: 'idle' }])
  expect((await paced(401)).spent).toMatchObject([{ owner: 'address 192.0.2.1' }])
  const [large] = (await paced(400, { owner: 'acc_1', length: '16000000' })).spent
  expect(large?.ms).toBeCloseTo(64.2)
  const [odd] = (await paced(400, { owner: 'acc_1', length: '-5, x' })).spent
  expect(odd?.ms).toBeCloseTo(0.2)
})

test('S2: does not count a body that a request announces and no route reads', async () => {
  const length = '1000000000000'
  const [unread] = (await paced(401, { length, bodyUsed: false })).spent
  expect(unread?.ms).toBeCloseTo(0.2)
  const [read] = (await paced(413, { length })).spent
  expect(read?.ms).toBeLessThan(200)
})

test.each([200, 201, 500, 502, 503])(
  'S2: an answer of status %d does not count as a rejection',
  async (status) => {
    expect((await paced(status, { owner: 'acc_1' })).spent).toEqual([])
  },
)

test('S2: beyond the bound the answer is given at once, and its connection closed', async () => {
  expect((await paced(429, { owner: 'acc_1', isSpent: true })).connection).toBe('close')
  expect((await paced(429, { owner: 'acc_1' })).connection).toBeNull()
})
