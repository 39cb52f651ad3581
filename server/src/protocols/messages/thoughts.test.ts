import { expect, test } from 'bun:test'
import { toChatMessages } from './conversation'
import { ThoughtReader } from './thoughts'
import { isObject, toObjects } from '../../wire/json-body'
import { packDetails } from '../../wire/reasoning-details'

const format = 'anthropic-claude-v1'
const fragment = (index: number, fields: object) => ({
  reasoning_details: [{ type: 'reasoning.text', format, index, ...fields }],
})

test('finding V20: only the last unsigned thoughts of a stream are kept', () => {
  const reader = new ThoughtReader()
  for (let index = 0; index < 200; index++) {
    expect(reader.add(fragment(index, { text: `${index}` }))).toEqual([])
  }
  expect(reader.add(fragment(199, { signature: 'c2ln' }))).toEqual([
    { text: '199', signature: 'c2ln' },
  ])
  expect(reader.add(fragment(0, { signature: 'c2ln' }))).toEqual([{ text: '', signature: 'c2ln' }])
})

test('finding V4: the thoughts of one request are unpacked within one budget', () => {
  const thought = { type: 'reasoning.text', text: '', signature: 'c2ln' }
  const signature = packDetails(Array.from({ length: 1000 }, () => thought)) ?? ''
  const content = [
    { type: 'thinking' as const, thinking: '', signature },
    { type: 'text' as const, text: 'Yes.' },
  ]
  const messages = Array.from({ length: 50 }, () => ({ role: 'assistant' as const, content }))
  const chat = toChatMessages({ messages }, () => undefined)
  const details = chat.flatMap(({ reasoning_details: found }) => toObjects(found))
  expect(details.every(isObject) && details.length).toBe(24_000)
})

test('finding V4: a thought that could not be unpacked is not written', () => {
  const nested: unknown = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)
  const foreign = { ...fragment(0, {}).reasoning_details[0], format: 'other', signature: 'c2ln' }
  const reader = new ThoughtReader()
  expect(reader.add({ reasoning_details: [{ ...foreign, nested }] })).toEqual([])
  expect(reader.add({ reasoning_details: [foreign] })).toHaveLength(1)
})
