import { expect, test } from 'bun:test'
import { toStrictSchema } from './schema'

test('an unsupported keyword of structured outputs moves into the description, with any name', () => {
  for (const name of ['minimum', 'constructor', 'toString', 'hasOwnProperty']) {
    const schema = { type: 'object', properties: { age: { type: 'integer', [name]: 3 } } }
    expect(toStrictSchema(schema)).toEqual({
      type: 'object',
      properties: { age: { type: 'integer', description: `(${name}: 3)` } },
      additionalProperties: false,
    })
  }
})
