import { expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { bodyOf } from '../../../testing/providers/bedrock-samples'
import { anyHistory, sampleTool } from '../../../testing/providers/samples'
import { isObject, type JsonObject } from '../../wire/json-body'

/** The blocks of a kind, over all messages of a role. */
const blocksOf = (message: JsonObject | undefined, kind: string): JsonObject[] => {
  const content = message?.['content']
  return (Array.isArray(content) ? content.filter(isObject) : []).flatMap((block) => {
    const inner = block[kind]
    return isObject(inner) ? [inner] : []
  })
}

test.each([
  ['nova-lite', true],
  ['nova-lite', false],
  ['mistral.x', true],
])('any history, %s (tools: %p), becomes turns that its rules allow', (model, hasTools) => {
  const property = fc.property(anyHistory, (history) => {
    const tools = hasTools ? { tools: [sampleTool('look'), sampleTool('book')] } : {}
    const { messages: sentMessages, toolConfig } = bodyOf({ messages: history, ...tools }, model)
    const messages = Array.isArray(sentMessages) ? sentMessages.filter(isObject) : []
    expect(messages[0]?.['role']).toBe('user')
    for (const [index, message] of messages.entries()) {
      expect(message['role']).toBe(index % 2 === 0 ? 'user' : 'assistant')
      expect(message['content']).not.toHaveLength(0)
      const ids = blocksOf(message, 'toolResult').map(({ toolUseId }) => toolUseId)
      const callIds = blocksOf(messages[index - 1], 'toolUse').map(({ toolUseId }) => toolUseId)
      expect([ids.length, new Set(ids)]).toEqual([new Set(ids).size, new Set(callIds)])
    }
    const text = JSON.stringify(messages)
    expect(/"text":"\s*"/.test(text)).toBeFalse()
    expect(text.includes('toolUse')).toBe(text.includes('toolResult'))
    expect(text.includes('toolUse') && toolConfig === undefined).toBeFalse()
    expect(text).not.toContain('__thought__')
    const rule = model === 'mistral.x' ? /^[A-Za-z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/
    for (const [, id = ''] of text.matchAll(/"toolUseId":"([^"]*)"/g)) expect(id).toMatch(rule)
  })
  fc.assert(property, { numRuns: 300 })
})
