import { Group, Pagination, Text } from '@mantine/core'
import { count } from '../format/figures'

/** The maximum offset the service allows. */
const maxSkipped = 10_000

interface Props {
  total: number
  /** Rows per page. */
  size: number
  page: number
  onChange: (page: number) => void
  /** The listed items, in the plural. */
  plural: string
}

/** The total of a long list, with pagination. */
export function Pages({ total, size, page, onChange, plural }: Props) {
  const pages = Math.min(Math.ceil(total / size), Math.floor(maxSkipped / size) + 1)
  if (pages < 2 && page === 1) return undefined
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed">
        {count(total)} {plural}
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
