import { Group, Pagination, Text } from '@mantine/core'
import { count } from '../figures'

/** The service lets nobody skip more rows than that. */
const mostSkipped = 10_000

interface Props {
  total: number
  /** Rows a page. */
  size: number
  page: number
  onChange: (page: number) => void
  /** What is listed, in the plural. */
  things: string
}

/** Which rows of a long list are shown, and the way to the others. */
export function Pages({ total, size, page, onChange, things }: Props) {
  const pages = Math.min(Math.ceil(total / size), Math.floor(mostSkipped / size) + 1)
  if (pages < 2 && page === 1) return undefined
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {count(total)} {things}
      </Text>
      <Pagination
        total={Math.max(1, pages)}
        value={page}
        onChange={onChange}
        size="sm"
        autoContrast
        getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        getItemProps={(number) => ({ 'aria-label': `Page ${number}` })}
      />
    </Group>
  )
}
