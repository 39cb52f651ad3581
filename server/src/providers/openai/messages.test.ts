import { expect, test } from 'bun:test'
import { toUpstreamMessages } from './messages'
import { RelayOptions } from '../provider'

const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }]
const said = { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' }
const plain = { role: 'assistant', content: 'Hi.' }

/** An assistant turn with signed thoughts, as it is written for a provider. */
const sent = (historyReasoning: RelayOptions['historyReasoning'], message: object): unknown =>
  JSON.parse(
    JSON.stringify(
      toUpstreamMessages(
        [{ ...message, reasoning_details: details }],
        RelayOptions.parse({ historyReasoning }),
      ),
    ),
  )

test('signatures go back only to who gives them in this form', () => {
  expect(sent('strip', said)).toEqual([plain])
  expect(sent('strip', plain)).toEqual([plain])
  expect(sent('required', said)).toEqual([said])
  expect(sent('required', plain)).toEqual([{ ...plain, reasoning_content: '' }])
  expect(sent('reasoning_content', said)).toEqual([said])
  expect(sent('reasoning', said)).toEqual([
    { ...plain, reasoning: 'Hm.', reasoning_details: details },
  ])
  expect(sent('reasoning', plain)).toEqual([{ ...plain, reasoning_details: details }])
})
