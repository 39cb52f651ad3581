import { describe, expect, test } from 'bun:test'
import { failureOf, createFixture, type Fixture } from '../../providers/conformance/fixture'

const say = async (fixture: Fixture, fields: object = {}) =>
  fixture.client.responses.create({
    model: await fixture.model('ok'),
    input: 'Hello.',
    stream: false,
    ...fields,
  })

/** Whether an answer says that it is kept, and whether it is there. */
async function keeping(fixture: Fixture, fields: object): Promise<boolean[]> {
  const response = await say(fixture, fields)
  const found = fixture.client.responses.retrieve(response.id).then(
    ({ id }) => id === response.id,
    () => false,
  )
  return [Reflect.get(response, 'store') === true, await found]
}

describe('STORE_RESPONSES', () => {
  test('always: all answers are stored unless their request has store: false', async () => {
    await using fixture = await createFixture()
    expect(await keeping(fixture, {})).toEqual([true, true])
    expect(await keeping(fixture, { store: true })).toEqual([true, true])
    expect(await keeping(fixture, { store: false })).toEqual([false, false])
    const { id } = await say(fixture)
    await say(fixture, { previous_response_id: id })
    expect(fixture.sent()['messages']).toHaveLength(3)
    fixture.verify()
  })

  test('asked: only answers to requests with store: true', async () => {
    await using fixture = await createFixture({ environment: { STORE_RESPONSES: 'asked' } })
    expect(await keeping(fixture, {})).toEqual([false, false])
    expect(await keeping(fixture, { store: true })).toEqual([true, true])
    fixture.verify()
  })

  test('never: none is stored, and none can be continued', async () => {
    await using fixture = await createFixture({ environment: { STORE_RESPONSES: 'never' } })
    expect(await keeping(fixture, { store: true })).toEqual([false, false])
    const { id } = await say(fixture, { store: true })
    const refusal = await failureOf(say(fixture, { previous_response_id: id }))
    expect([refusal.status, refusal.param]).toEqual([400, 'previous_response_id'])
    fixture.verify()
  })
})
