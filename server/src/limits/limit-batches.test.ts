import { expect, test } from 'bun:test'
import { LimitBatches } from './limit-batches'

const windows = [
  { id: 'rpm:account', limit: 60 },
  { id: 'rpm:key', limit: 10 },
]
const running = [{ id: 'run:account', limit: 3 }]

/** A Redis that answers when it is told to. */
function stage() {
  const scripts: { keys: readonly string[]; operations: unknown[]; callers: number }[] = []
  const answers: PromiseWithResolvers<unknown>[] = []
  const batches = new LimitBatches({
    runFor: (callers, { keys, args: [list] }) => {
      scripts.push({ keys, operations: JSON.parse(String(list)), callers })
      const answer = Promise.withResolvers<unknown>()
      answers.push(answer)
      return answer.promise
    },
  })
  return { scripts, answers, batches }
}

test('what comes while a script runs shares the next one, in its order, and each gets its own answer', async () => {
  const { scripts, answers, batches } = stage()
  const first = batches.take('one', { windows, weight: 1, running })
  const second = batches.take('two', { windows, weight: 500, running: [] })
  batches.end({ id: 'zero', windows, slots: [7, 8], delta: -400, running })
  const third = batches.take('three', { windows: windows.slice(1), weight: 1, running })
  expect(scripts).toHaveLength(1)
  answers[0]?.resolve('[[0,0,1,60000,9,1,60000,9]]')
  expect(await first).toEqual([0, 0, 1, 60_000, 9, 1, 60_000, 9])
  await Bun.sleep(0)
  answers[1]?.resolve('[[1,250,60,1000,9,1,60000,9],0,[0,0,2,60000,9]]')
  expect(await second).toEqual([1, 250, 60, 1000, 9, 1, 60_000, 9])
  expect(await third).toEqual([0, 0, 2, 60_000, 9])
  expect(scripts).toEqual([
    {
      keys: ['tollgate:rpm:account', 'tollgate:rpm:key', 'tollgate:run:account'],
      operations: [[1, 1, 'one', [1, 2], [60, 10], [3], [3]]],
      callers: 1,
    },
    {
      keys: ['tollgate:rpm:account', 'tollgate:rpm:key', 'tollgate:run:account'],
      operations: [
        [1, 500, 'two', [1, 2], [60, 10], [], []],
        [0, -400, 'zero', [1, 2], [7, 8], [3]],
        [1, 1, 'three', [2], [10], [3], [3]],
      ],
      callers: 3,
    },
  ])
})

test('without an answer nobody waits for longer than a moment, and those behind are asked for all the same', async () => {
  const { scripts, batches } = stage()
  const startedAt = performance.now()
  const takes = ['one', 'two', 'three'].map((id) =>
    batches.take(id, { windows, weight: 1, running }),
  )
  const told = await Promise.allSettled(takes)
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(performance.now() - startedAt).toBeLessThan(1000)
  expect(scripts.map(({ callers }) => callers)).toEqual([1, 2])
})

test('what is given back is sent however long it waits, and before this node leaves', async () => {
  const { scripts, answers, batches } = stage()
  const taking = batches.take('one', { windows, weight: 1, running })
  batches.end({ id: 'zero', windows: [], slots: [], delta: 0, running })
  const late = batches.take('two', { windows, weight: 1, running })
  // As a collection of garbage may, or a debugger.
  Bun.sleepSync(60)
  const flushed = batches.flush()
  expect(await late.catch(() => 'late')).toBe('late')
  expect(scripts[1]?.operations).toEqual([
    [0, 0, 'zero', [], [], [1]],
    [0, 0, '', [], [], []],
  ])
  answers[1]?.resolve('[0,0]')
  await flushed
  await taking.catch(() => undefined)
})

test('where Redis is far away, scripts follow each other without waiting for answers', async () => {
  const { scripts, answers, batches } = stage()
  const takes: Promise<unknown>[] = []
  for (let number = 0; number < 10; number++) {
    takes.push(batches.take(String(number), { windows, weight: 1, running }).catch(() => undefined))
    await Bun.sleep(3)
  }
  expect(scripts.length).toBeGreaterThanOrEqual(5)
  expect(scripts.flatMap(({ operations }) => operations)).toHaveLength(10)
  for (const { resolve } of answers) resolve('[]')
  await Promise.all(takes)
})

test('one that Redis could not take fails nobody else', async () => {
  const { answers, batches } = stage()
  const first = batches.take('one', { windows, weight: 1, running })
  const others = ['two', 'three'].map((id) => batches.take(id, { windows, weight: 1, running }))
  answers[0]?.resolve('[[0,0]]')
  await first
  await Bun.sleep(0)
  answers[1]?.resolve('[null,[0,0]]')
  const told = await Promise.allSettled(others)
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('what is no answer is a failure', async () => {
  const { answers, batches } = stage()
  const taking = batches.take('one', { windows, weight: 1, running })
  answers[0]?.resolve('[]')
  expect(await taking.catch(() => 'failed')).toBe('failed')
})
