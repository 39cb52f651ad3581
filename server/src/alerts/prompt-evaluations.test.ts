import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { PromptEvaluations } from './prompt-evaluations'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('keeps nothing of finished evaluations', async () => {
  const rounds = 300
  const over = Promise.withResolvers<void>()
  let evaluated = 0
  const evaluations: PromptEvaluations = new PromptEvaluations({
    evaluate: async () => {
      await Bun.sleep(0)
      evaluated += 1
      if (evaluated < rounds) evaluations.soon(['usr_1'])
      else over.resolve()
      return 0
    },
    everyMs: 1,
    onFailure: () => undefined,
  })
  const before = promises()
  evaluations.soon(['usr_1'])
  await over.promise
  expect(promises() - before).toBeLessThan(50)
  await evaluations[Symbol.asyncDispose]()
})

test('disposing does not wait for a pause', async () => {
  const looked = Promise.withResolvers<void>()
  const evaluations = new PromptEvaluations({
    evaluate: () => {
      looked.resolve()
      return Promise.resolve(0)
    },
    everyMs: 60_000,
    onFailure: () => undefined,
  })
  evaluations.soon(['usr_1'])
  await looked.promise
  await Bun.sleep(5)
  await evaluations[Symbol.asyncDispose]()
})
