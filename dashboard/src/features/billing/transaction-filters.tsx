import { Button, Select } from '@mantine/core'
import type { ReactNode } from 'react'
import { DayInputs } from '../../components/day-inputs'
import { Filters } from '../../components/filters'
import { transactionStatuses, transactionTypes, type TransactionFilter } from '../../url/period'

const all = 'all'
const cleared = {
  type: undefined,
  status: undefined,
  from: undefined,
  to: undefined,
}
const labelled = (names: readonly string[]) =>
  [all, ...names].map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }))

interface Props {
  filter: TransactionFilter
  onChange: (changed: Record<string, string | null | undefined>) => void
  /** Whether the list has transactions of several types. */
  hasTypes?: boolean
  /** Further filters, placed first. */
  children?: ReactNode
}

/** The filters of a transaction list; the address holds them. */
export function TransactionFilters({ filter, onChange: set, hasTypes = true, children }: Props) {
  const { type, status, from, to } = filter
  const isFiltered = [type, status, from, to].some((value) => value !== undefined)
  return (
    <Filters>
      {children}
      {hasTypes && (
        <Select
          label="Type"
          allowDeselect={false}
          data={labelled(transactionTypes)}
          value={type ?? all}
          onChange={(value) => set({ type: value })}
        />
      )}
      <Select
        label="Status"
        allowDeselect={false}
        data={labelled(transactionStatuses)}
        value={status ?? all}
        onChange={(value) => set({ status: value })}
      />
      <DayInputs days={filter} onChange={(changed) => set({ ...changed })} />
      {isFiltered && (
        <Button variant="subtle" onClick={() => set(cleared)}>
          Clear filters
        </Button>
      )}
    </Filters>
  )
}
