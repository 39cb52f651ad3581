import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { toMessages } from './messages'
import { anyHistory, sampleChat } from '../../../testing/providers/samples'
import { isObject } from '../../wire/json-body'

test('any history gives no blank message, and a call for every result', () => {
  const property = fc.property(anyHistory, (history) => {
    const calls = new Set<unknown>()
    for (const message of toMessages(sampleChat({ messages: history }), () => undefined)) {
      const { content, tool_calls: toolCalls, tool_call_id: id, tool_plan: plan } = message
      for (const textField of [content, plan]) {
        if (textField !== undefined) expect(textField).toMatch(/\S/)
      }
      if (Array.isArray(toolCalls)) {
        expect(content).toBeUndefined()
        for (const call of toolCalls.filter(isObject)) {
          calls.add(call['id'])
          const { arguments: text } = isObject(call['function']) ? call['function'] : {}
          expect(isObject(JSON.parse(String(text)))).toBeTrue()
        }
      }
      if (message['role'] === 'tool') expect(calls.has(id)).toBeTrue()
      expect(JSON.stringify(message)).not.toContain('__thought__')
    }
  })
  fc.assert(property, { numRuns: 300 })
})
