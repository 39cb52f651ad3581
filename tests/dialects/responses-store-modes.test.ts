import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { failureOf, startStage, type Stage } from '../conformance/stage'

setDefaultTimeout(60_000)

const say = async (stage: Stage, fields: object = {}) =>
  stage.client.responses.create({
    model: await stage.model('ok'),
    input: 'Hello.',
    stream: false,
    ...fields,
  })

/** Whether an answer says that it is kept, and whether it is there. */
async function keeping(stage: Stage, fields: object): Promise<boolean[]> {
  const told = await say(stage, fields)
  const found = stage.client.responses.retrieve(told.id).then(
    ({ id }) => id === told.id,
    () => false,
  )
  return [Reflect.get(told, 'store') === true, await found]
}

describe('STORE_RESPONSES', () => {
  test('always: all answers are kept but those whose request says no', async () => {
    await using stage = await startStage({ environment: { STORE_RESPONSES: 'always' } })
    expect(await keeping(stage, {})).toEqual([true, true])
    expect(await keeping(stage, { store: true })).toEqual([true, true])
    expect(await keeping(stage, { store: false })).toEqual([false, false])
    const { id } = await say(stage)
    await say(stage, { previous_response_id: id })
    expect(stage.sent()['messages']).toHaveLength(3)
    stage.verify()
  })

  test('never: none is kept, and nothing is gone on from', async () => {
    await using stage = await startStage({ environment: { STORE_RESPONSES: 'never' } })
    expect(await keeping(stage, { store: true })).toEqual([false, false])
    const { id } = await say(stage, { store: true })
    const refusal = await failureOf(say(stage, { previous_response_id: id }))
    expect([refusal.status, refusal.param]).toEqual([400, 'previous_response_id'])
    stage.verify()
  })
})
