import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { PromptEvaluations } from './prompt-evaluations'
import { settled, TestClock } from '../../testing/clock'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('keeps nothing of finished evaluations', async () => {
  const clock = new TestClock()
  const rounds = 300
  const over = Promise.withResolvers<void>()
  let evaluated = 0
  const evaluations: PromptEvaluations = new PromptEvaluations({
    evaluate: async () => {
      await clock.sleep(1)
      evaluated += 1
      if (evaluated < rounds) evaluations.soon(['usr_1'])
      else over.resolve()
      return 0
    },
    everyMs: 1,
    onFailure: () => undefined,
    clock,
  })
  const before = promises()
  evaluations.soon(['usr_1'])
  await clock.run(over.promise)
  expect(promises() - before).toBeLessThan(50)
  await evaluations[Symbol.asyncDispose]()
  expect(clock.pending).toBe(0)
})

test('disposing does not wait for a pause', async () => {
  const clock = new TestClock()
  let evaluated = 0
  const evaluations = new PromptEvaluations({
    evaluate: () => {
      evaluated += 1
      return Promise.resolve(0)
    },
    everyMs: 60_000,
    onFailure: () => undefined,
    clock,
  })
  evaluations.soon(['usr_1'])
  await settled()
  expect([evaluated, clock.pending]).toEqual([1, 1])
  await evaluations[Symbol.asyncDispose]()
  expect(clock.pending).toBe(0)
})
