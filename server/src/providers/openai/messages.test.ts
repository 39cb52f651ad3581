import { expect, test } from 'bun:test'
import { toUpstreamMessages } from './messages'
import { RelayOptions } from '../provider'

const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }]
const answer = { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' }
const plain = { role: 'assistant', content: 'Hi.' }

/** An assistant turn with signed thoughts, as it is written for a provider. */
const messagesFor = (
  historyReasoning: RelayOptions['historyReasoning'],
  message: object,
): unknown =>
  JSON.parse(
    JSON.stringify(
      toUpstreamMessages(
        [{ ...message, reasoning_details: details }],
        RelayOptions.parse({ historyReasoning }),
      ),
    ),
  )

test('returns signatures only to providers that issue them in this form', () => {
  expect(messagesFor('strip', answer)).toEqual([plain])
  expect(messagesFor('strip', plain)).toEqual([plain])
  expect(messagesFor('required', answer)).toEqual([answer])
  expect(messagesFor('required', plain)).toEqual([{ ...plain, reasoning_content: '' }])
  expect(messagesFor('reasoning_content', answer)).toEqual([answer])
  expect(messagesFor('reasoning', answer)).toEqual([
    { ...plain, reasoning: 'Hm.', reasoning_details: details },
  ])
  expect(messagesFor('reasoning', plain)).toEqual([{ ...plain, reasoning_details: details }])
})
