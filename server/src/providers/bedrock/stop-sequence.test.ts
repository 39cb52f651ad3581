import { expect, test } from 'bun:test'
import { createPartsReader } from './parts'
import { bodyOf, sampleUser } from '../../../testing/providers/bedrock-samples'
import { sampleSource } from '../../../testing/providers/samples'

const paths = (model: string, stop?: string[]) =>
  bodyOf({ messages: [sampleUser('Hi')], ...(stop && { stop }) }, model)[
    'additionalModelResponseFieldPaths'
  ]

test('finding V21: only a Claude with stop sequences returns the stop sequence of its end', () => {
  const claude = 'us.anthropic.claude-sonnet-4-6'
  expect(paths(claude, ['END'])).toEqual(['/stop_sequence'])
  expect(paths(claude)).toBeUndefined()
  expect(paths('amazon.nova-pro-v1:0', ['END'])).toBeUndefined()
})

test.each([
  [{ stopReason: 'stop_sequence' }, 'stop_sequence'],
  [
    {
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    },
    'END',
  ],
  [{ stopReason: 'end_turn', additionalModelResponseFields: { stop_sequence: null } }, undefined],
])('finding V21: %j is an end with the stop sequence %p', (messageStop, matchedStop) => {
  const [finish] = createPartsReader(sampleSource)(JSON.stringify({ messageStop }))
  expect(finish).toEqual({ type: 'finish', reason: 'stop', ...(matchedStop && { matchedStop }) })
})
