import { expect, test } from 'bun:test'
import { callsIn, cut, runToolCall, type ToolRun } from './tool-run'
import type { GatewayToolCall, GatewayToolResult } from '../wire/gateway-tool'

const calls: GatewayToolCall[] = []

function run(answer: (call: GatewayToolCall) => Promise<GatewayToolResult>, limits = {}): ToolRun {
  calls.length = 0
  return {
    tools: {
      call: (_gatewayId, call) => {
        calls.push(call)
        return answer(call)
      },
    },
    gatewayId: 'gw_1',
    allowed: [{ name: 'echo' }],
    limits: { callMs: 60_000, resultBytes: 65_536, ...limits },
    signal: new AbortController().signal,
  }
}

const echo = { id: 'call_1', name: 'echo', text: '{"a":1}' }
const never = () => new Promise<GatewayToolResult>(() => undefined)
const heeding = ({ signal }: GatewayToolCall) =>
  new Promise<GatewayToolResult>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('ended')))
  })
const answering = (content: string) => async () => ({ content, isError: false })

test('a call is sent with its remaining budget', async () => {
  expect(await runToolCall(echo, run(answering('Yes.')))).toBe('Yes.')
  const toolCall = { name: 'echo', arguments: { a: 1 }, timeoutMs: 60_000, maxBytes: 65_536 }
  expect(calls).toMatchObject([toolCall])
})

test('a tool that times out is cancelled, and its model receives a timeout error', async () => {
  expect(await runToolCall(echo, run(never, { callMs: 1 }))).toStartWith(
    'Error: the tool call was aborted',
  )
  expect(calls[0]?.signal.aborted).toBe(true)
})

test('a tool that the signal ends is still reported as too slow', async () => {
  expect(await runToolCall(echo, run(heeding, { callMs: 1 }))).toContain('aborted after 0.001 s')
})

test('a lost gateway, and a message that ends, are not results', async () => {
  const lost = run(() => Promise.reject(new Error('lost')))
  await expect(runToolCall(echo, lost)).rejects.toThrow('lost')
  const ended = { ...run(answering('Yes.')), signal: AbortSignal.abort(new Error('ended')) }
  await expect(runToolCall(echo, ended)).rejects.toThrow('ended')
  expect(calls).toEqual([])
})

test('a result is cut between two characters, and names the cut', async () => {
  const result = await runToolCall(echo, run(answering('é'.repeat(100_000)), { resultBytes: 1000 }))
  expect(Buffer.byteLength(result)).toBeLessThanOrEqual(1000)
  expect(Buffer.byteLength(result)).toBeGreaterThan(990)
  expect(result).toEndWith('é\n[truncated: the full result has 200000 bytes]')
  for (let limit = 50; limit < 60; limit += 1) {
    expect(Buffer.byteLength(cut('😀'.repeat(40), limit))).toBeLessThanOrEqual(limit)
    expect(cut('😀'.repeat(40), limit)).not.toContain('\ufffd')
  }
  expect(cut('é'.repeat(500), 1000)).toBe('é'.repeat(500))
})

test('does not run a tool call that is not a function call', async () => {
  const odd = callsIn([{ id: 'call_1', type: 'custom', custom: { name: 'echo' } }, { function: 7 }])
  expect(odd).toEqual([
    { id: 'call_1', name: '', text: '' },
    { id: '', name: '', text: '' },
  ])
})
