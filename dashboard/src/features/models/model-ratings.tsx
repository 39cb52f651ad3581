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
  keepPreviousData,
  useInfiniteQuery,
  useQueryClient,
  type InfiniteData,
} from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client'
import { Loaded } from '../../components/loaded'
import { Moment } from '../../components/moment'
import { ResourceList } from '../../components/resource-list'
import { toRows } from '../../api/paging'
import { ResourceForm } from '../../components/resource-form'
import { count } from '../../format/figures'
import { modelsKey, ratingOrders, ratingsQuery, type RatingOrder, type Ratings } from './queries'
import { useSubmit } from '../../components/use-submit'

type OwnRating = Ratings['ratings'][number]

export function ModelRatings({ id }: { id: string }) {
  const [sort, setSort] = useState<RatingOrder>('newest')
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
          return (
            <Stack>
              <Summary summary={first.summary} />
              <Own key={first.my_rating?.updated_at ?? 'none'} id={id} mine={first.my_rating} />
              <ResourceList
                query={query}
                rows={(all) => toRows(all.pages, ({ ratings }) => ratings)}
                plural="ratings"
                empty="No ratings yet."
              >
                {(ratings) => <Reviews ratings={ratings} sort={sort} onSort={setSort} />}
              </ResourceList>
            </Stack>
          )
        }}
      </Loaded>
    </section>
  )
}

interface ReviewsProps {
  ratings: readonly OwnRating[]
  sort: RatingOrder
  onSort: (sort: RatingOrder) => void
}

const Reviews = ({ ratings, sort, onSort }: ReviewsProps) => (
  <>
    <Select
      label="Sort reviews"
      allowDeselect={false}
      data={ratingOrders}
      value={sort}
      onChange={(order) => onSort(order ?? 'newest')}
      maw={220}
    />
    {ratings.map((one) => (
      <Review key={one.id} rating={one} />
    ))}
  </>
)

const grades = ['5', '4', '3', '2', '1'] as const

function Summary({ summary: { average, count: ratings, distribution } }: Pick<Ratings, 'summary'>) {
  if (average === null) return undefined
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

function Own({ id, mine }: { id: string; mine: OwnRating | null }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { rating: mine?.rating ?? 0, review: mine?.review ?? '' },
    validate: { rating: (rating) => (rating === 0 ? 'Select one to five stars.' : null) },
  })
  const refresh = () => queries.invalidateQueries({ queryKey: modelsKey })
  const save = async (fields: typeof form.values) => {
    await api.POST('/api/models/{model_id}/ratings', {
      params: { path: { model_id: id } },
      body: fields,
    })
    form.resetDirty()
    await refresh()
  }
  const removal = useSubmit(async () => {
    await api.DELETE('/api/models/{model_id}/ratings', { params: { path: { model_id: id } } })
    await refresh()
  })
  const remove = mine && (
    <Button
      variant="subtle"
      color="red"
      loading={removal.isBusy}
      onClick={() => void removal.submit(undefined)}
    >
      Delete rating
    </Button>
  )
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          Your rating
        </Text>
        <ResourceForm
          form={form}
          save={save}
          label={mine ? 'Update rating' : 'Submit rating'}
          kind="action"
          actions={remove}
          actionError={removal.error}
        >
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
        </ResourceForm>
      </Stack>
    </Paper>
  )
}

const Review = ({ rating }: { rating: OwnRating }) => (
  <Stack gap={2}>
    <Group gap="xs">
      <Text size="sm" fw={500}>
        {rating.user_name}
      </Text>
      <Text size="sm" aria-label={`${rating.rating} of 5`} role="img">
        {'★'.repeat(rating.rating)}
      </Text>
      <Text size="xs" c="dimmed">
        <Moment at={rating.updated_at} />
      </Text>
    </Group>
    {rating.review && (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {rating.review}
      </Text>
    )}
  </Stack>
)
