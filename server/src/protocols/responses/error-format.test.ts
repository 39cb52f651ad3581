import { expect, test } from 'bun:test'
import { toResponsesErrorBody } from './error-format'
import { invalidRequest } from '../../errors'

test.each([
  ['messages.2.content.1', 'input'],
  ['messages.0.tool_calls.0.function.arguments', 'input'],
  ['max_completion_tokens', 'max_output_tokens'],
  ['max_tokens', 'max_output_tokens'],
  ['response_format', 'text.format'],
  ['response_format.json_schema.name', 'text.format'],
  ['reasoning_effort', 'reasoning.effort'],
  ['tools.1.function.parameters', 'tools'],
  ['tools.1.name', 'tools.1.name'],
  ['input.3.call_id', 'input.3.call_id'],
  ['model', 'model'],
])('an error of %s is one of %s, in its words too', (param, field) => {
  const { error } = toResponsesErrorBody(
    invalidRequest(param, 'not_allowed', `${param}: No.`),
    'req_1',
  )
  expect(error).toMatchObject({ param: field, message: `${field}: No.` })
})

test('an error of the whole body has no field', () => {
  const { error } = toResponsesErrorBody(invalidRequest(null, 'invalid_json', 'No.'), 'req_1')
  expect(error).toMatchObject({ param: null, message: 'No.' })
})
