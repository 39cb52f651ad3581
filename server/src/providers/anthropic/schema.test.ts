import { expect, test } from 'bun:test'
import { toStrictSchema } from './schema'

test('a keyword that structured outputs do not know moves into the description, whatever it is called', () => {
  for (const name of ['minimum', 'constructor', 'toString', 'hasOwnProperty']) {
    const schema = { type: 'object', properties: { age: { type: 'integer', [name]: 3 } } }
    expect(toStrictSchema(schema)).toEqual({
      type: 'object',
      properties: { age: { type: 'integer', description: `(${name}: 3)` } },
      additionalProperties: false,
    })
  }
})
