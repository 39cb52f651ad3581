import { expect, test } from 'bun:test'
import { z } from 'zod'
import { PublicModelFilters } from './schema'

const { capability } = PublicModelFilters.shape

test.each([
  ['vision', true],
  ['vision,tools', true],
  [' vision ,\ttools ', true],
  ['', false],
  ['vision,', false],
  ['vision,flying', false],
  ['vision tools', false],
])('the documented pattern and the filter judge "%s" alike', (text, isValid) => {
  const { pattern = '' } = z.toJSONSchema(capability, { io: 'input' })
  expect(new RegExp(pattern).test(text)).toBe(isValid)
  expect(capability.safeParse(text).success).toBe(isValid)
})
