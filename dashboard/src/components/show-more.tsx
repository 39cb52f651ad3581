import { Button, Group, Text } from '@mantine/core'
import { count } from '../figures'

interface Props {
  shown: number
  total: number
  /** What a list is of, in the plural. */
  of: string
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** How much of a list is shown, and the next part of it. */
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
