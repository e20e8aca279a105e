/* A command over MQTT: the first line is the topic, the second the response topic, the rest the payload. */
#include "mqtt/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1790000000

/* Ends the first line of the rest, and moves behind it; NULL: there is none. */
static const char *take_line(char **rest, size_t *len)
{
    char *end = *len > 0 ? memchr(*rest, '\n', *len) : NULL;
    const char *line = *rest;

    if (!end)
        return NULL;
    *end = '\0';
    *len -= (size_t)(end + 1 - *rest);
    *rest = end + 1;
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct topics topics = {"ballast", "prod-a"};
    struct command *command = malloc(sizeof *command);
    char *copy = malloc(size + 1);
    char *rest = copy;
    struct err err;

    if (!command || !copy)
        abort();
    memcpy(copy, data, size);
    const char *topic = take_line(&rest, &size);
    const char *response = take_line(&rest, &size);

    if (topic && response) {
        const struct command_message m = {
            .topic = topic, .payload = rest, .len = size, .response_topic = *response ? response : NULL};

        int r = command_read(&topics, &m, NOW, command, &err);

        if (r > 0 || strlen(command->id) > COMMAND_ID_MAX ||
            (command->reply_topic && strncmp(command->reply_topic, "ballast/prod-a/reply", 20) != 0) ||
            (r == 0 && strncmp(topic, "ballast/prod-a/cmd", 18) != 0))
            abort();
    }
    free(copy);
    free(command);
    return 0;
}
