import { Button, Center } from '@mantine/core'

interface Props {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

/** A button that loads the next page of a list, when there is one. */
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
