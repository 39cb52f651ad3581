import { Button, Center } from '@mantine/core'

interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** The way to the rest of a list, where there is one. */
export const More = ({ query }: Props) =>
  query.hasNextPage && (
    <Center>
      <Button
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        Show more
      </Button>
    </Center>
  )
