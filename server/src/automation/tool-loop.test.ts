import { describe, expect, test } from 'bun:test'
import {
  cost,
  runPlain,
  sentIn,
  runStreamed,
  createTestLoop,
  textOf,
  type ScriptedCall,
} from '../../testing/automation/tool-loop'
import { ApiError } from '../errors'
import type { GatewayToolResult } from '../wire/gateway-tool'

const echo: ScriptedCall = ['echo', '{"a":1}']
const always = Array.from({ length: 200 }, () => [echo])
const unknown = () => Promise.reject(new ApiError('resource_not_found'))
const lose = () => Promise.reject(new ApiError('connection_failed'))
/** The owner takes a tool from the list while it runs. */
const disableEcho = (step: number) => (step >= 2 ? { disabled_tools: ['echo'] } : {})
const lostAfterOne = (step: number) => (step === 1 ? {} : undefined)
const never = () => new Promise<GatewayToolResult>(() => undefined)

describe('tools', () => {
  test('are run for the model, in order, until it calls none; each step is stored', async () => {
    const it = createTestLoop({ answers: [[echo, ['echo', '{"b":2}']], [['echo', '']], 'Done.'] })
    const answer = await runPlain(it)
    expect(textOf(it.stored)).toEqual([
      'user: Do it.',
      'assistant: null',
      'tool: {"a":1}',
      'tool: {"b":2}',
      'assistant: null',
      'tool: {}',
      'assistant: Done.',
    ])
    expect(it.stored.map(({ tool_call_id }) => tool_call_id)).toEqual([
      null,
      null,
      'call_0',
      'call_1',
      null,
      'call_0',
      null,
    ])
    expect(sentIn(it.requests[2])).toEqual(textOf(it.stored.slice(0, 6)))
    expect(it.requests[0]?.['tools']).toMatchObject([
      { type: 'function', function: { name: 'echo' } },
      { type: 'function', function: { name: 'fail' } },
    ])
    expect(answer).toMatchObject({
      userMessage: { content: 'Do it.' },
      assistantMessage: { content: 'Done.', tool_calls: null },
      usage: { prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 },
    })
    expect(answer.toolMessages.map(({ role }) => role)).toEqual(['tool', 'tool', 'tool'])
    expect(it.outcomes.reduce((sum, outcome) => sum + outcome.cost, 0n)).toBe(3n * cost)
    // What the results were of the prompts that had them.
    expect(it.outcomes.flatMap(({ tokenCounts }) => [...(tokenCounts?.keys() ?? [])])).toEqual([
      'msg_2',
      'msg_3',
      'msg_5',
    ])
    expect(it.isDone()).toBe(true)
  })

  test('do not run when they are forbidden or unknown, although the model calls them', async () => {
    for (const session of [{ disabled_tools: ['fail'] }, { enabled_tools: ['echo'] }]) {
      const it = createTestLoop({
        answers: [[['fail', '{}'], ['shell', '{}'], echo], 'Done.'],
        session,
      })
      await runPlain(it)
      expect(it.ran).toEqual(['echo'])
      expect(it.requests[0]?.['tools']).toHaveLength(1)
      const [, , one, two] = textOf(it.stored)
      expect([one, two]).toEqual(
        Array(2).fill(expect.stringContaining('Error: this session has no such tool')),
      )
    }
    const withoutTools = createTestLoop({
      answers: [[echo], 'Done.'],
      session: { enabled_tools: [] },
    })
    await runPlain(withoutTools)
    expect([withoutTools.ran, withoutTools.requests[0]?.['tools']]).toEqual([[], undefined])
  })

  test('do not run after they are removed from the list while a message runs', async () => {
    const it = createTestLoop({ answers: [[echo, echo], 'Done.'], sessionAt: disableEcho })
    await runPlain(it)
    expect(it.ran).toEqual(['echo'])
    expect(it.requests[1]?.['tools']).toMatchObject([{ function: { name: 'fail' } }])
  })

  test('return an error to the model when they fail or their arguments are not an object', async () => {
    const calls: ScriptedCall[] = [
      ['fail', '{}'],
      ['echo', '[1]'],
      ['echo', '{"a":'],
    ]
    const it = createTestLoop({ answers: [calls, 'Done.'] })
    await runPlain(it)
    expect(it.ran).toEqual(['fail'])
    expect(textOf(it.stored).slice(2, 5)).toEqual([
      'tool: Error: {}',
      'tool: Error: the arguments are not a JSON object. The tool was not run.',
      'tool: Error: the arguments are not a JSON object. The tool was not run.',
    ])
  })

  test('beyond the maximum for a model are rejected before it is called', async () => {
    const tool = { description: '', parameters: {} }
    const of = async () =>
      Array.from({ length: 129 }, (_, index) => ({ ...tool, name: `t${index}` }))
    const it = createTestLoop({ answers: [], tools: { of } })
    await expect(runPlain(it)).rejects.toMatchObject({ param: 'enabledTools' })
    expect([it.requests, it.stored]).toEqual([[], []])
  })

  test('do not apply to a chat: calls that its model invents are stored, and answered in the next message', async () => {
    const it = createTestLoop({
      answers: [[echo]],
      session: { session_type: 'chat', gateway_id: null },
    })
    expect(await runPlain(it)).toMatchObject({
      assistantMessage: { content: null },
      toolMessages: [],
    })
    expect([it.ran, it.requests.length]).toEqual([[], 1])
    const history = it.stored.map(({ role, content, tool_calls, tool_call_id }) => ({
      role,
      content,
      tool_calls,
      tool_call_id,
    }))
    const next = createTestLoop({ answers: ['Yes.'], history })
    await runPlain(next)
    expect(sentIn(next.requests[0])).toEqual([
      'user: Do it.',
      'assistant: null',
      'tool: Error: no result, because the message ended first.',
      'user: Do it.',
    ])
  })
})

describe('a message has bounds', () => {
  test('in rounds', async () => {
    const it = createTestLoop({ answers: always })
    const { assistantMessage } = await runPlain(it)
    expect([it.requests.length, it.ran.length]).toEqual([26, 25])
    expect(assistantMessage.content).toStartWith('Stopped: the model may ask for tools 25 times')
    // No call is without a result.
    expect(it.stored.at(-2)).toMatchObject({
      role: 'tool',
      content: expect.stringMatching('not run'),
    })
  })

  test('in calls', async () => {
    const it = createTestLoop({
      answers: [Array.from({ length: 150 }, () => echo)],
      limits: { calls: 100 },
    })
    const { assistantMessage, toolMessages } = await runPlain(it)
    expect([it.requests.length, it.ran.length, toolMessages.length]).toEqual([1, 100, 150])
    expect(assistantMessage.content).toStartWith('Stopped: one message may call 100 tools')
  })

  test('in cost', async () => {
    const it = createTestLoop({ answers: always, limits: { cost: 2n * cost } })
    const { assistantMessage } = await runPlain(it)
    expect([it.requests.length, it.ran.length]).toEqual([3, 2])
    expect(assistantMessage.content).toContain('has cost 0.000000021 USD')
  })

  test('in time, which ends a tool that runs', async () => {
    for (const stream of [false, true]) {
      const limits = { plainMs: 1, streamMs: 1 }
      const it = createTestLoop({
        answers: always,
        limits,
        tools: { call: never },
        message: { stream },
      })
      const ended = stream
        ? (await runStreamed(it)).error
        : await runPlain(it).catch((error) => error)
      expect(ended).toMatchObject({ code: 'request_timeout', retryable: false })
      expect(textOf(it.stored)).toEqual(['user: Do it.', 'assistant: null'])
      expect(it.isDone()).toBe(true)
    }
  })
})

describe('a message ends between steps', () => {
  test('when its session was paused or completed, or its turn was lost', async () => {
    for (const status of ['paused', 'completed', 'cancelled'] as const) {
      const sessionAt = (step: number) => (step === 2 ? { status } : {})
      const it = createTestLoop({ answers: [[echo, echo], 'Done.'], sessionAt })
      const ended = runPlain(it)
      await expect(ended).rejects.toMatchObject({ details: { issue: 'wrong_state' } })
      expect([it.ran, it.requests.length]).toEqual([['echo'], 1])
    }
    const lost = createTestLoop({ answers: [[echo, echo], 'Done.'], sessionAt: lostAfterOne })
    await expect(runPlain(lost)).rejects.toMatchObject({ details: { issue: 'wrong_state' } })
    expect(lost.ran).toEqual(['echo'])
  })

  test('by cancelling a running tool when the session ends or pauses, or the caller disconnects', async () => {
    const ends = ['cancel', 'halt', 'onClientDisconnect'] as const
    for (const stream of [false, true]) {
      for (const end of ends) {
        const { promise, resolve } = Promise.withResolvers<AbortSignal>()
        const call = (_id: string, { signal }: { signal: AbortSignal }) => {
          resolve(signal)
          return never()
        }
        const it = createTestLoop({
          answers: [[echo], 'Done.'],
          tools: { call },
          message: { stream },
        })
        const ending = stream
          ? runStreamed(it).then(({ error }) => error)
          : runPlain(it).catch((error: unknown) => error)
        const signal = await promise
        it.run[end]()
        expect(signal.aborted).toBe(true)
        const error = await ending
        if (end === 'onClientDisconnect') expect(error).toHaveProperty('name', 'ClientGone')
        else if (stream) expect(error).toMatchObject({ code: 'gateway_unavailable' })
        else expect(error).toMatchObject({ details: { issue: 'wrong_state' } })
        expect(it.requests).toHaveLength(1)
        expect(it.isDone()).toBe(true)
      }
    }
  })

  test('when the gateway is offline, deleted or lost', async () => {
    const offline = createTestLoop({ answers: [], tools: { of: async () => undefined } })
    await expect(runPlain(offline)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    expect(offline.outcomes).toMatchObject([{ messages: [], hasFailed: false }])

    const deleted = createTestLoop({ answers: [], tools: { of: unknown } })
    await expect(runPlain(deleted)).rejects.toMatchObject({ code: 'resource_not_found' })
    expect(deleted.outcomes).toMatchObject([{ messages: [], hasFailed: true }])

    const lost = createTestLoop({ answers: [[echo]], tools: { call: lose } })
    await expect(runPlain(lost)).rejects.toMatchObject({
      code: 'connection_failed',
      retryable: false,
    })
    expect(textOf(lost.stored)).toEqual(['user: Do it.', 'assistant: null'])
  })

  test('when a further call of the model is rejected: finished steps stay, and are not to be repeated', async () => {
    const refused = new ApiError('gateway_unavailable')
    for (const stream of [false, true]) {
      const it = createTestLoop({ answers: [[echo], refused], message: { stream } })
      const ended = stream
        ? (await runStreamed(it)).error
        : await runPlain(it).catch((error) => error)
      expect(ended).toMatchObject({ code: 'gateway_unavailable', retryable: false })
      expect(textOf(it.stored)).toEqual(['user: Do it.', 'assistant: null', 'tool: {"a":1}'])
    }
    const first = createTestLoop({ answers: [refused] })
    await expect(runPlain(first)).rejects.toMatchObject({ retryable: true })
    expect(first.stored).toEqual([])
  })
})
