import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { describeForecast } from './forecast-words'
import { forecastQuery } from './statement-queries'

/** The forecast of a balance, as a sentence; nothing where there is too little usage. */
export function Forecast({ organization }: { organization: string | undefined }) {
  const { data } = useQuery(forecastQuery(organization))
  const sentence = data && describeForecast(data)
  if (sentence === undefined) return undefined
  return (
    <Text size="sm" c="dimmed" role="note" aria-label="Forecast">
      {sentence}
    </Text>
  )
}
