import { Button, Group, Text } from '@mantine/core'
import { count } from '../figures'

interface Props {
  shown: number
  total: number
  /** The listed items, in the plural. */
  of: string
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** The number of rows shown, with a button that loads the next page. */
export const ShowMore = ({ shown, total, of, query }: Props) => (
  <Group justify="space-between">
    <Text size="sm" c="dimmed" aria-live="polite">
      {count(shown)} of {count(Math.max(shown, total))} {of}
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
