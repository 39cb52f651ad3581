import { expect, test } from 'bun:test'
import { callsIn, cut, runToolCall, type ToolRun } from './tool-run'
import type { GatewayToolCall, ToolResult } from './tools'

const calls: GatewayToolCall[] = []

function run(answer: (call: GatewayToolCall) => Promise<ToolResult>, limits = {}): ToolRun {
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
const never = () => new Promise<ToolResult>(() => undefined)
const heeding = ({ signal }: GatewayToolCall) =>
  new Promise<ToolResult>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('ended')))
  })
const answering = (content: string) => async () => ({ content, isError: false })

test('a call goes with what it may take', async () => {
  expect(await runToolCall(echo, run(answering('Yes.')))).toBe('Yes.')
  const asked = { name: 'echo', arguments: { a: 1 }, timeoutMs: 60_000, mostBytes: 65_536 }
  expect(calls).toMatchObject([asked])
})

test('a tool that takes too long is told that it ended, and its model that it was too slow', async () => {
  expect(await runToolCall(echo, run(never, { callMs: 1 }))).toStartWith(
    'Error: the tool was ended',
  )
  expect(calls[0]?.signal.aborted).toBe(true)
})

test('a tool that ends by the signal is too slow all the same', async () => {
  expect(await runToolCall(echo, run(heeding, { callMs: 1 }))).toContain('took longer than 0.001 s')
})

test('a lost gateway, and a message that ends, are no results', async () => {
  const lost = run(() => Promise.reject(new Error('lost')))
  await expect(runToolCall(echo, lost)).rejects.toThrow('lost')
  const ended = { ...run(answering('Yes.')), signal: AbortSignal.abort(new Error('ended')) }
  await expect(runToolCall(echo, ended)).rejects.toThrow('ended')
  expect(calls).toEqual([])
})

test('a result is cut between two characters, and says so', async () => {
  const told = await runToolCall(echo, run(answering('é'.repeat(100_000)), { resultBytes: 1000 }))
  expect(Buffer.byteLength(told)).toBeLessThanOrEqual(1000)
  expect(Buffer.byteLength(told)).toBeGreaterThan(990)
  expect(told).toEndWith('é\n[cut: the whole result has 200000 bytes]')
  for (let most = 50; most < 60; most += 1) {
    expect(Buffer.byteLength(cut('😀'.repeat(40), most))).toBeLessThanOrEqual(most)
    expect(cut('😀'.repeat(40), most)).not.toContain('\ufffd')
  }
  expect(cut('é'.repeat(500), 1000)).toBe('é'.repeat(500))
})

test('what is no call of a function has no name, and so does not run', async () => {
  const odd = callsIn([{ id: 'call_1', type: 'custom', custom: { name: 'echo' } }, { function: 7 }])
  expect(odd).toEqual([
    { id: 'call_1', name: '', text: '' },
    { id: '', name: '', text: '' },
  ])
})
