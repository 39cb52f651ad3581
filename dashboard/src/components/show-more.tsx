import { Button, Group, Text } from '@mantine/core'
import { count } from '../format/figures'

interface Props {
  /** The number of loaded items. */
  loaded: number
  total: number
  /** The listed items, in the plural. */
  plural: string
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** The number of rows shown, with a button that loads the next page. */
export const ShowMore = ({ loaded, total, plural, query }: Props) => (
  <Group justify="space-between">
    <Text size="sm" c="dimmed" aria-live="polite">
      {count(loaded)} of {count(Math.max(loaded, total))} {plural}
    </Text>
    {query.hasNextPage && (
      <Button
        size="xs"
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        Show more
      </Button>
    )}
  </Group>
)
