import { expect, test } from 'bun:test'
import { fillTemplate } from './template-text'

test('names are replaced by their values, once', () => {
  const text = 'Say {{greeting}} to {{ name }}, {{name}}!'
  const filled = fillTemplate(text, { greeting: '{{name}}', name: '$& Ada' })
  expect(filled).toBe('Say {{name}} to $& Ada, $& Ada!')
})

test('reports names without a value, including names of Object.prototype', () => {
  expect(() => fillTemplate('{{name}}', {})).toThrow('variables.name')
  expect(() => fillTemplate('{{constructor}}', {})).toThrow('variables.constructor')
})

test('leaves text that is not a variable name unchanged', () => {
  expect(fillTemplate('{{ }} {{1}} {name}', {})).toBe('{{ }} {{1}} {name}')
})

test('values that stand in a text many times do not make it endless', () => {
  const text = '{{x}}'.repeat(4000)
  expect(() => fillTemplate(text, { x: 'y'.repeat(20_000) })).toThrow('100000')
})
