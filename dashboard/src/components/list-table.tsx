import { Box, Table, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

/** Where a column stands in a narrow place: before the title, as it, beside it, or below in a line of its own. */
type Place = 'lead' | 'title' | 'aside' | 'wide'

export interface Column {
  name: string
  /** Numbers stand at the right. */
  isNumber?: boolean
  /** What stands in it is about as long as a number: in a narrow place three fit in a line. */
  isShort?: boolean
  /** Only who does not see the table needs the name. */
  isHidden?: boolean
  /** What stands in place of the name. */
  head?: ReactNode
  /** What the name means, where that is not plain. */
  about?: string
  /** Below the title where it is not said, two in a line or three short ones. What is hidden stands beside it. */
  place?: Place
}

export type Columns = readonly (string | Column)[]

interface Props {
  columns: Columns
  /** Pixels below which the table is scrolled, as long as it is one. */
  minWidth: number
  /** Rows, each with a cell for every column. */
  children: ReactNode
  /** Rows of sums. */
  foot?: ReactNode
}

/** A list: a table where there is room for one, else a block for each row. See `list-table.css`. */
export function ListTable({ columns, minWidth, children, foot }: Props) {
  const all = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
  return (
    <Box className="list" {...placesOf(all)} __vars={namesOf(all)}>
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

const placeOf = ({ isHidden = false, place }: Column) => place ?? (isHidden ? 'aside' : undefined)

const longestName = 14

/** Whether a third of a line is enough for it. */
const isShort = (column: Column) =>
  (column.isNumber ?? column.isShort ?? false) && column.name.length <= longestName

/** Which columns stand where, by their numbers. */
function placesOf(columns: readonly Column[]) {
  const at = (place: Place) =>
    columns.flatMap((column, index) => (placeOf(column) === place ? [index + 1] : [])).join(' ')
  const title = at('title') || '1'
  const below = columns.filter(
    (column, index) => placeOf(column) === undefined && String(index + 1) !== title,
  )
  return {
    'data-lead': at('lead'),
    'data-title': title,
    'data-aside': at('aside'),
    'data-wide': at('wide'),
    'data-short': below.every(isShort) || undefined,
  }
}

/** The names, for the style sheet, which writes them before the cells. */
const namesOf = (columns: readonly Column[]) =>
  Object.fromEntries(
    columns.map(({ name }, index) => [`--name-${index + 1}`, JSON.stringify(name)]),
  )
