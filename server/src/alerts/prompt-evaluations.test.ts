import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { PromptEvaluations } from './prompt-evaluations'

const promises = () => {
  Bun.gc(true)
  return heapStats().objectTypeCounts['Promise'] ?? 0
}

test('nothing stays of looks that are over, however many there were', async () => {
  const rounds = 300
  const over = Promise.withResolvers<void>()
  let looks = 0
  const soonLooks: PromptEvaluations = new PromptEvaluations({
    evaluate: async () => {
      await Bun.sleep(0)
      looks += 1
      if (looks < rounds) soonLooks.soon(['usr_1'])
      else over.resolve()
      return 0
    },
    everyMs: 1,
    onFailure: () => undefined,
  })
  const before = promises()
  soonLooks.soon(['usr_1'])
  await over.promise
  expect(promises() - before).toBeLessThan(50)
  await soonLooks[Symbol.asyncDispose]()
})

test('its end does not wait for a pause', async () => {
  const looked = Promise.withResolvers<void>()
  const soonLooks = new PromptEvaluations({
    evaluate: () => {
      looked.resolve()
      return Promise.resolve(0)
    },
    everyMs: 60_000,
    onFailure: () => undefined,
  })
  soonLooks.soon(['usr_1'])
  await looked.promise
  await Bun.sleep(5)
  await soonLooks[Symbol.asyncDispose]()
})
