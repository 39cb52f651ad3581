import { expect, test } from 'bun:test'
import { fillTemplate } from './template-text'

test('names are replaced by their values, once', () => {
  const text = 'Say {{greeting}} to {{ name }}, {{name}}!'
  const said = fillTemplate(text, { greeting: '{{name}}', name: '$& Ada' })
  expect(said).toBe('Say {{name}} to $& Ada, $& Ada!')
})

test('a name without a value is told, one of every object among them', () => {
  expect(() => fillTemplate('{{name}}', {})).toThrow('variables.name')
  expect(() => fillTemplate('{{constructor}}', {})).toThrow('variables.constructor')
})

test('what is no name stays as it is', () => {
  expect(fillTemplate('{{ }} {{1}} {name}', {})).toBe('{{ }} {{1}} {name}')
})

test('values that stand in a text many times do not make it endless', () => {
  const text = '{{x}}'.repeat(4000)
  expect(() => fillTemplate(text, { x: 'y'.repeat(20_000) })).toThrow('100000')
})
