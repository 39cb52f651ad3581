import { describe, expect, test } from 'bun:test'
import {
  answered,
  look,
  namespace,
  namesOf,
  read,
} from '../../../testing/protocols/responses-tools'

describe('finding C2: a namespace', () => {
  const tools = [look, namespace('mcp__demo', look, { type: 'custom', name: 'exec' })]

  test('is functions by names of their own', () => {
    expect(namesOf({ tools })).toEqual(['look', 'mcp__demo__look', 'mcp__demo__exec'])
  })

  test('has its calls come back by namespace and name', () => {
    const output = answered(
      { tools },
      ['look', '{"a":1}'],
      ['mcp__demo__look', '{}'],
      ['mcp__demo__exec', '{"input":"1 + 1"}'],
    )
    expect(output).toMatchObject([
      { type: 'function_call', name: 'look', arguments: '{"a":1}', call_id: 'call_0' },
      { type: 'function_call', name: 'look', namespace: 'mcp__demo', arguments: '{}' },
      { type: 'custom_tool_call', name: 'exec', namespace: 'mcp__demo', input: '1 + 1' },
    ])
    expect(output[0]).not.toHaveProperty('namespace')
  })

  test('in the history is the same function', () => {
    const input = [
      {
        type: 'function_call',
        call_id: 'c',
        name: 'look',
        namespace: 'mcp__demo',
        arguments: '{}',
      },
      { type: 'function_call_output', call_id: 'c', output: 'wet' },
    ]
    expect(read({ tools, input }).chat['messages']).toMatchObject([
      { tool_calls: [{ id: 'c', function: { name: 'mcp__demo__look' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'wet' },
    ])
  })

  test('can be chosen, and allowed', () => {
    const choice = { type: 'function', namespace: 'mcp__demo', name: 'look' }
    expect(read({ tools, tool_choice: choice }).chat['tool_choice']).toEqual({
      type: 'function',
      function: { name: 'mcp__demo__look' },
    })
    const allowed = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'namespace', name: 'mcp__demo' }],
    }
    const names = ['mcp__demo__look', 'mcp__demo__exec'].map((name) => ({
      type: 'function',
      function: { name },
    }))
    expect(read({ tools, tool_choice: allowed }).chat['tool_choice']).toMatchObject({
      allowed_tools: { tools: names },
    })
  })

  test('with long or odd names has functions that every provider takes, always the same', () => {
    const long = namespace(`mcp__${'a'.repeat(60)}`, look, { ...look, name: 'see.it' })
    const names = namesOf({ tools: [long] })
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/)
    expect(namesOf({ tools: [look, long] }).slice(1)).toEqual(names)
    const [first] = names
    expect(answered({ tools: [long] }, [first ?? '', '{}'])).toMatchObject([
      { name: 'look', namespace: long.name },
    ])
  })

  test('is not used for a name that spells another tool’s name', () => {
    const names = namesOf({ tools: [{ ...look, name: 'a__look' }, namespace('a', look)] })
    expect(new Set(names).size).toBe(2)
  })
})
