import { Skeleton, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { QueryFailure } from './query-failure'

interface Props<Data> {
  query: UseQueryResult<Data>
  /** The noun of what is loaded, for an id that the service does not have. */
  what?: string
  /** Takes as much room as the data will, in place of three lines. */
  skeleton?: ReactNode
  children: (data: Data) => ReactNode
}

/** Renders the data of a query; until then a skeleton or the error. */
export function Loaded<Data>({ query, what, skeleton, children }: Props<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error) {
    return <QueryFailure error={error} refetch={refetch} what={what} placeholder={<NotLoaded />} />
  }
  return (
    <Stack gap="xs" role="status" aria-busy aria-label="Loading">
      {skeleton ?? threeLines}
    </Stack>
  )
}

const threeLines = (
  <>
    <Skeleton height={38} />
    <Skeleton height={38} />
    <Skeleton height={38} />
  </>
)

const NotLoaded = () => (
  <Text size="sm" c="dimmed">
    Could not be loaded.
  </Text>
)
