import { expect, test } from 'bun:test'
import { ProviderLists } from './provider-lists'
import { sampleConnection, sampleProvider } from '../../testing/catalog/samples'

const provider = sampleProvider()
const first = sampleConnection({ id: 'conn_1' })
const second = sampleConnection({ id: 'conn_2' })
const offer = { provider, connections: [first, second] }

const listed = (models: string[], success = true) => ({
  success,
  message: '',
  latencyMs: 1,
  models,
})

function listsOf(answers: Record<string, () => Promise<ReturnType<typeof listed>>>) {
  const reads: string[] = []
  const clock = { ms: 0 }
  const lists = new ProviderLists({
    now: () => clock.ms,
    list: (_provider, { id }) => {
      reads.push(id)
      return answers[id]?.() ?? Promise.resolve(listed([]))
    },
  })
  const serving = async (name: string) => (await lists.findServing(offer, name)).map(({ id }) => id)
  return { reads, clock, serving }
}

test('finding D10: the connections whose provider lists a model serve it, from a list that is read once', async () => {
  const models = ['new', 'other']
  const { reads, clock, serving } = listsOf({
    conn_1: async () => listed(['other']),
    conn_2: async () => listed(models),
  })
  const all = await Promise.all([serving('new'), serving('other'), serving('none')])
  expect(all).toEqual([['conn_2'], ['conn_1', 'conn_2'], []])
  expect(reads).toEqual(['conn_1', 'conn_2'])
  models.push('newest')
  clock.ms = 599_999
  expect(await serving('newest')).toEqual([])
  clock.ms = 600_000
  expect(await serving('newest')).toEqual(['conn_2'])
  expect(reads).toHaveLength(4)
})

test('a list that fails has nothing, and is read again after a minute', async () => {
  let isAway = true
  const { reads, clock, serving } = listsOf({
    conn_1: async () => (isAway ? listed([], false) : listed(['new'])),
    conn_2: () => Promise.reject(new Error('away')),
  })
  expect(await serving('new')).toEqual([])
  isAway = false
  clock.ms = 59_999
  expect(await serving('new')).toEqual([])
  expect(reads).toHaveLength(2)
  clock.ms = 60_000
  expect(await serving('new')).toEqual(['conn_1'])
})
