import { describe, expect, test } from 'bun:test'
import { z } from 'zod'
import { renderLiveSettings } from '../../../scripts/configuration-page'
import { readConfig } from '../config/config'
import {
  constant,
  live,
  mergeValues,
  toAnswerFields,
  toAnswerShape,
  toBodyShape,
  toChangedValues,
  toInitialValues,
  toStoredShape,
} from './live-setting'
import { count } from './setting-kinds'
import { liveSettings } from './settings'

/** The table with one more row, as CONTRIBUTING.md has it for a new live setting. */
const table = {
  ...liveSettings,
  maxLlamas: live(count, {
    field: 'max_llamas',
    label: 'Llamas',
    section: 'Access',
    ...constant(7),
    doc: 'maximum number of llamas ([llamas.md](../llamas.md))',
  }),
}

const defaults = toInitialValues(table, readConfig({}))

describe('a setting is one more row of the table, which gives', () => {
  test('the body of a change, with its bounds', () => {
    const body = z.object(toBodyShape(table))
    expect(body.parse({ max_llamas: 9 })).toEqual({ max_llamas: 9 })
    expect(body.parse({})).toEqual({})
    expect(body.safeParse({ max_llamas: 0 }).success).toBe(false)
  })

  test('the keywords from which the dashboard makes its input', () => {
    const { properties } = z.toJSONSchema(z.object(toBodyShape(table)), {
      io: 'input',
      unrepresentable: 'any',
    })
    expect(properties?.['max_llamas']).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      title: 'Llamas',
      description: 'Maximum number of llamas',
      'x-section': 'Access',
    })
  })

  test('the answer, with its default and after a change', () => {
    const answer = z.object(toAnswerShape(table))
    expect(answer.parse(toAnswerFields(table, defaults))).toMatchObject({ max_llamas: 7 })
    const changed = mergeValues(table, defaults, toChangedValues(table, { max_llamas: 9 }))
    expect(answer.parse(toAnswerFields(table, changed))).toMatchObject({ max_llamas: 9 })
  })

  test('the stored form', () => {
    const stored = z.object(toStoredShape(table))
    expect(stored.parse(toChangedValues(table, { max_llamas: 9 }))).toEqual({ maxLlamas: 9 })
    expect(stored.safeParse({ maxLlamas: 'many' }).success).toBe(false)
  })

  test('its line of docs/operate/configuration.md', () => {
    expect(renderLiveSettings(table)).toContain(
      '| `max_llamas` | `7` | maximum number of llamas ([llamas.md](../llamas.md)) |',
    )
  })
})
