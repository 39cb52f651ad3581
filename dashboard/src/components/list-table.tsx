import { Box, Table, UnstyledButton, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

/**
 * The position of a column in the narrow layout: before the title, as the title, beside it, or below on
 * its own line.
 */
type CellPosition = 'lead' | 'title' | 'aside' | 'wide'

export interface Column {
  name: string
  /** Numbers are aligned right. */
  isNumber?: boolean
  /** The content is about as short as a number: the narrow layout fits three per line. */
  isShort?: boolean
  /** The name is visible to assistive technology only. */
  isHidden?: boolean
  /** Replaces the name. */
  head?: ReactNode
  /** Explains the name when it is not obvious. */
  about?: string
  /** The field by which a click on the name sorts the list. */
  sort?: string
  /** Below the title by default, two per line or three short ones. Hidden columns stand beside the title. */
  position?: CellPosition
}

export type Columns = readonly (string | Column)[]

/** The order of a list. */
export interface SortOrder {
  by: string
  isDescending: boolean
}

interface Sorting {
  order: SortOrder
  onSort: (order: SortOrder) => void
}

interface Props {
  columns: Columns
  /** The order of a list whose columns sort it. */
  sorting?: Sorting
  /** Rows with little space between them, for long lists. */
  isDense?: boolean
  /** The width in pixels below which the table scrolls; one that needs less room than most has the narrow layout below it. */
  minWidth: number
  /** Rows with one cell per column. */
  children: ReactNode
  /** Rows of totals. */
  foot?: ReactNode
}

/** A list: a table in the wide layout, one block per row in the narrow one. See `list-table.css`. */
export function ListTable(props: Props) {
  const { columns, sorting, isDense = false, minWidth, children, foot } = props
  const all = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
  return (
    <Box className="list" {...positionsOf(all)} __vars={{ ...namesOf(all), ...turnOf(minWidth) }}>
      <Table.ScrollContainer minWidth={minWidth}>
        <Table verticalSpacing={isDense ? 6 : 'sm'} highlightOnHover role="table">
          <Table.Thead>
            <Table.Tr>
              {all.map((column) => (
                <Header key={column.name} column={column} sorting={sorting} />
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{children}</Table.Tbody>
          {foot && <Table.Tfoot>{foot}</Table.Tfoot>}
        </Table>
      </Table.ScrollContainer>
    </Box>
  )
}

/** Below this width a list has the narrow layout, however much room its columns need. */
const maxTurn = 560
const pxOfRem = 16
/** The width in which `list-table.css` turns, in the font size of the list. */
const turnEm = 35

const turnOf = (minWidth: number) => ({
  '--list-unit': `${Math.min(maxTurn, minWidth) / turnEm / pxOfRem}rem`,
})

interface HeaderProps {
  column: Column
  sorting: Sorting | undefined
}

function Header({ column, sorting }: HeaderProps) {
  const { name, isNumber = false, isHidden = false, head, about, sort } = column
  const aligned = { ...(isNumber && { ta: 'right' as const }), ...(about && { title: about }) }
  if (sorting && sort !== undefined) {
    const { by, isDescending } = sorting.order
    const direction = by !== sort ? 'none' : isDescending ? 'descending' : 'ascending'
    return (
      <Table.Th {...aligned} aria-sort={direction}>
        <UnstyledButton
          fz="inherit"
          fw="inherit"
          onClick={() => sorting.onSort({ by: sort, isDescending: direction === 'ascending' })}
        >
          {name} <span aria-hidden>{signs[direction]}</span>
        </UnstyledButton>
      </Table.Th>
    )
  }
  return (
    <Table.Th {...aligned}>
      {head ?? (isHidden ? <VisuallyHidden>{name}</VisuallyHidden> : name)}
    </Table.Th>
  )
}

const signs = { ascending: '↑', descending: '↓', none: '↕' } as const

const positionOf = ({ isHidden = false, position }: Column) =>
  position ?? (isHidden ? 'aside' : undefined)

const maxShortLength = 14

/** Whether a third of a line is enough for a column. */
const isShort = (column: Column) =>
  (column.isNumber ?? column.isShort ?? false) && column.name.length <= maxShortLength

/** The positions of the columns in the narrow layout, by column number. */
function positionsOf(columns: readonly Column[]) {
  const at = (position: CellPosition) =>
    columns
      .flatMap((column, index) => (positionOf(column) === position ? [index + 1] : []))
      .join(' ')
  const title = at('title') || '1'
  const below = columns.filter(
    (column, index) => positionOf(column) === undefined && String(index + 1) !== title,
  )
  return {
    'data-lead': at('lead'),
    'data-title': title,
    'data-aside': at('aside'),
    'data-wide': at('wide'),
    'data-short': below.every(isShort) || undefined,
  }
}

/** The column names for the style sheet, which prints those that are visible before the cells. */
const namesOf = (columns: readonly Column[]) =>
  Object.fromEntries(
    columns.map(({ name, isHidden }, index) => [
      `--name-${index + 1}`,
      isHidden ? 'none' : JSON.stringify(name),
    ]),
  )
