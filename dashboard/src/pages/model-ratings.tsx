import {
  Button,
  Group,
  Input,
  Paper,
  Progress,
  Rating,
  Select,
  Stack,
  Text,
  Textarea,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import {
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query'
import { useState } from 'react'
import { api, json } from '../api'
import { Loaded } from '../components/loaded'
import { Moment } from '../components/moment'
import { More } from '../components/more'
import { Problem } from '../components/problem'
import { count } from '../figures'
import { inPath, modelsKey } from '../models'
import { useSubmit } from '../submit'

const endpoint = api.models[':model_id{.+}'].ratings

const ratingsQuery = (id: string, sort: string) =>
  infiniteQueryOptions({
    queryKey: [...modelsKey, 'ratings', id, sort],
    queryFn: async ({ pageParam }) => {
      const query = { sort, limit: '10', ...(pageParam && { cursor: pageParam }) }
      const wanted = { ...inPath(id), query }
      return (await endpoint.$get(wanted)).json()
    },
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => pagination.next_cursor,
  })

type Ratings = Awaited<ReturnType<NonNullable<ReturnType<typeof ratingsQuery>['queryFn']>>>
type Given = Ratings['ratings'][number]

const orders = [
  { value: 'newest', label: 'Newest first' },
  { value: 'highest', label: 'Highest first' },
  { value: 'lowest', label: 'Lowest first' },
]

export function ModelRatings({ id }: { id: string }) {
  const [sort, setSort] = useState('newest')
  const query = useInfiniteQuery({ ...ratingsQuery(id, sort), placeholderData: keepPreviousData })
  return (
    <section aria-label="Ratings">
      <Title order={3} size="h4" mb="xs">
        Ratings
      </Title>
      <Loaded query={query}>
        {({ pages }: InfiniteData<Ratings>) => {
          const [first] = pages
          if (!first) return null
          const ratings = pages.flatMap((page) => page.ratings)
          return (
            <Stack>
              <Summary summary={first.summary} />
              <Own key={first.my_rating?.updated_at ?? 'none'} id={id} mine={first.my_rating} />
              {ratings.length > 0 && (
                <Select
                  label="Sort reviews"
                  allowDeselect={false}
                  data={orders}
                  value={sort}
                  onChange={(order) => setSort(order ?? 'newest')}
                  maw={220}
                />
              )}
              {ratings.map((one) => (
                <Review key={one.id} given={one} />
              ))}
              <More query={query} />
            </Stack>
          )
        }}
      </Loaded>
    </section>
  )
}

const grades = ['5', '4', '3', '2', '1'] as const

function Summary({ summary: { average, count: ratings, distribution } }: Pick<Ratings, 'summary'>) {
  if (average === null) return <Text size="sm">No ratings yet.</Text>
  return (
    <Stack gap={4}>
      <Text size="sm">
        {average} of 5, by {count(ratings)}
      </Text>
      {grades.map((grade) => (
        <Group key={grade} gap="xs" wrap="nowrap">
          <Text size="xs" w={28} style={{ whiteSpace: 'nowrap' }}>
            {grade} <span aria-hidden>★</span>
          </Text>
          <Progress.Root flex={1} size="sm" aria-hidden>
            <Progress.Section value={(100 * distribution[grade]) / ratings} color="yellow" />
          </Progress.Root>
          <Text size="xs" w={40} ta="right">
            {count(distribution[grade])}
          </Text>
        </Group>
      ))}
    </Stack>
  )
}

function Own({ id, mine }: { id: string; mine: Given | null }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { rating: mine?.rating ?? 0, review: mine?.review ?? '' },
    validate: { rating: (rating) => (rating === 0 ? 'Select one to five stars.' : null) },
  })
  const refresh = () => queries.invalidateQueries({ queryKey: modelsKey })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    await endpoint.$post(inPath(id), json(fields))
    await refresh()
  }, form)
  const removal = useSubmit(async () => {
    await endpoint.$delete(inPath(id))
    await refresh()
  })
  return (
    <Paper withBorder p="md">
      <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
        <Stack gap="xs">
          <Text size="sm" fw={500}>
            Your rating
          </Text>
          <Problem error={error ?? removal.error} />
          <Input.Wrapper error={form.errors['rating']}>
            <Rating getSymbolLabel={(stars) => `${stars} of 5`} {...form.getInputProps('rating')} />
          </Input.Wrapper>
          <Textarea
            label="Review"
            description="Visible to all users of this service, with your name."
            autosize
            minRows={2}
            maxRows={8}
            maxLength={2000}
            {...form.getInputProps('review')}
          />
          <Group justify="flex-end">
            {mine && (
              <Button
                variant="subtle"
                color="red"
                loading={removal.isBusy}
                onClick={() => void removal.submit(undefined)}
              >
                Delete rating
              </Button>
            )}
            <Button type="submit" loading={isBusy}>
              {mine ? 'Update rating' : 'Submit rating'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}

const Review = ({ given }: { given: Given }) => (
  <Stack gap={2}>
    <Group gap="xs">
      <Text size="sm" fw={500}>
        {given.user_name}
      </Text>
      <Text size="sm" aria-label={`${given.rating} of 5`} role="img">
        {'★'.repeat(given.rating)}
      </Text>
      <Text size="xs" c="dimmed">
        <Moment at={given.updated_at} />
      </Text>
    </Group>
    {given.review && (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {given.review}
      </Text>
    )}
  </Stack>
)
