import { Box, Table, VisuallyHidden } from '@mantine/core'
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
  /** Below the title by default, two per line or three short ones. Hidden columns stand beside the title. */
  position?: CellPosition
}

export type Columns = readonly (string | Column)[]

interface Props {
  columns: Columns
  /** The width in pixels below which the table scrolls, in the wide layout. */
  minWidth: number
  /** Rows with one cell per column. */
  children: ReactNode
  /** Rows of totals. */
  foot?: ReactNode
}

/** A list: a table in the wide layout, one block per row in the narrow one. See `list-table.css`. */
export function ListTable({ columns, minWidth, children, foot }: Props) {
  const all = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
  return (
    <Box className="list" {...positionsOf(all)} __vars={namesOf(all)}>
      <Table.ScrollContainer minWidth={minWidth}>
        <Table verticalSpacing="sm" highlightOnHover role="table">
          <Table.Thead>
            <Table.Tr>
              {all.map((column) => (
                <Header key={column.name} column={column} />
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

const Header = ({ column }: { column: Column }) => {
  const { name, isNumber = false, isHidden = false, head, about } = column
  return (
    <Table.Th {...(isNumber && { ta: 'right' })} {...(about && { title: about })}>
      {head ?? (isHidden ? <VisuallyHidden>{name}</VisuallyHidden> : name)}
    </Table.Th>
  )
}

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
