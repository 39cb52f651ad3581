import { describe, expect, test } from 'bun:test'
import { objectIn, createSessionClient } from './talk'
import { useToolFixture } from './tool-fixture'
import { tool } from './tool-server'
import { problem } from '../../harness/byok'
import { toStream } from '../../harness/http'
import { accountOf, nanosOf } from '../../harness/ledger'
import { eventually } from '../../../server/testing/eventually'

const { fixture, session, sent, events } = useToolFixture()

describe('a message that cannot go on', () => {
  test('at a limit ends with a text that names it', async () => {
    const { talk, tools } = fixture()
    const id = await session('tool-rounds-99')
    const answer = await talk.send(id, 'Look.')
    expect([answer.status, tools.ran.length, sent().length]).toEqual([201, 50, 26])
    expect(objectIn(answer, 'assistantMessage')['content']).toStartWith('Stopped: ')
  })

  test('when the balance runs out between two calls keeps, and pays, the finished steps', async () => {
    const { billing, tools } = fixture()
    for (const stream of [false, true]) {
      const poor = await billing.customer(0n)
      const theirs = createSessionClient(billing.rig.gateway, poor)
      const id = await session('tool-rounds-3', {}, theirs)
      const fields = { max_tokens: 60, stream }
      const refused = await theirs.send(id, 'Look.', fields)
      expect([refused.status, await theirs.transcript(id)]).toEqual([402, []])
      // Enough for the first call, and no more.
      const amount = Number(refused.error.details?.['minimum_required'])
      const credit = { user_id: poor.userId, amount, reason: 'test' }
      await billing.rig.gateway.admin('POST', '/credits/grant', credit)
      tools.ran = []
      const failed = toStream(await theirs.send(id, 'Look.', fields))
      expect([failed.status, failed.error.code]).toEqual([
        stream ? 200 : 402,
        'insufficient_credits',
      ])
      expect([failed.isDone, tools.ran.length]).toEqual([false, 2])
      expect((await theirs.transcript(id)).map((words) => words.split(':')[0])).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
      ])
      const booked = await events(poor)
      expect(booked.map(({ outcome }) => outcome)).toEqual(['ok'])
      expect((await accountOf(billing.sql, poor)).posted).toBe(
        nanosOf(amount) - BigInt(booked[0]?.cost ?? 0),
      )
      expect(nanosOf((await theirs.get(id))['totalCost'])).toBe(BigInt(booked[0]?.cost ?? 0))
    }
  })

  test('in time ends with the tool that runs', async () => {
    const { billing, talk, tools } = fixture()
    const id = await session('tool-rounds-1')
    const { gateway } = billing.rig
    await gateway.admin('PUT', '/config', { timers: { request_seconds: 6, stream_seconds: 6 } })
    tools.run = () => new Promise(() => undefined)
    const late = await talk.send(id, 'Look.')
    const streamed = await talk.stream(id, 'Look.')
    await gateway.admin('PUT', '/config', { timers: { request_seconds: 120, stream_seconds: 900 } })
    expect([late.status, late.error.code, streamed.error.code]).toEqual([
      504,
      'request_timeout',
      'request_timeout',
    ])
    await eventually(async () => tools.ran.length === 2 && tools.ran.every(({ isLeft }) => isLeft))
  })

  test('as its session is cancelled, deleted, paused or completed, ends with the tool that runs', async () => {
    const { talk, tools } = fixture()
    const ends = [
      ['PATCH', '', { status: 'cancelled' }],
      ['PATCH', '', { status: 'paused' }],
      ['POST', '/complete', {}],
      ['DELETE', '', undefined],
    ] as const
    tools.run = () => new Promise(() => undefined)
    for (const [method, path, body] of ends) {
      for (const stream of [false, true]) {
        tools.ran = []
        const id = await session('tool-rounds-1')
        const saying = stream ? talk.stream(id, 'Look.') : talk.send(id, 'Look.')
        await eventually(async () => tools.ran.length === 1)
        expect((await talk.api(`${method} /sessions/${id}${path}`, body)).status).toBe(200)
        const ended = await saying
        if (stream) expect(ended.error.code).toBe('gateway_unavailable')
        else expect(problem(ended)).toEqual([400, 'status', 'wrong_state'])
        await eventually(async () => tools.ran.every(({ isLeft }) => isLeft))
        expect(tools.ran).toHaveLength(1)
      }
    }
  })

  test('as its caller leaves, ends with the tool that runs, and frees the session', async () => {
    const { talk, tools } = fixture()
    tools.run = () => new Promise(() => undefined)
    for (const stream of [false, true]) {
      tools.ran = []
      const id = await session('tool-rounds-1')
      using client = await talk.begin(id, { stream })
      await eventually(async () => tools.ran.length === 1)
      client.close()
      await eventually(async () => tools.ran.every(({ isLeft }) => isLeft))
      tools.announced = []
      await eventually(async () => (await talk.send(id, 'And?')).status === 201)
      tools.announced = [tool('echo')]
      expect((await talk.transcript(id)).slice(0, 3)).toEqual([
        'user: Go on.',
        'assistant: null',
        'user: And?',
      ])
    }
  })
})
