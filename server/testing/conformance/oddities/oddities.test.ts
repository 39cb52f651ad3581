import { describe, expect, test } from 'bun:test'
import { problemsOf } from './heard'
import { oddities } from './oddities'
import { cannotOccur, type Said } from './oddity'
import { spoken, type Dialect } from './spoken'

const isDialect = (name: string): name is Dialect => name in spoken

describe.each(oddities)('finding $findings: $name', (oddity) => {
  const rows = Object.entries(oddity.said).filter(
    (row): row is [Dialect, Said] => isDialect(row[0]) && row[1] !== cannotOccur,
  )
  test.each(rows)('%s', (dialect, said) => {
    expect(problemsOf(dialect, said, oddity)).toEqual([])
  })
})
